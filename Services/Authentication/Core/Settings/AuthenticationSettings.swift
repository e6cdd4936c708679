public import Clocks
public import OutboundHttp

/// The `authentication` object of the service's settings file. Paths are relative to that file.
public struct AuthenticationSettings: Decodable, Sendable {
    /// The service provider's base entity id, which MVPDs know (mvpd §2.1).
    public let spEntityID: String
    /// The public address of the assertion consumer service.
    public let acsURL: String
    /// The public address for logout messages; beside the assertion consumer unless set (mvpd §2.1).
    public let logoutURL: String
    /// RSA key (PEM) that signs requests and metadata, and its certificate (PEM).
    public let signingKey: String
    public let signingCertificate: String
    /// During a rollover, the certificate (PEM) of the key that signs next, or that signed before; metadata lists it too.
    public let otherSigningCertificate: String?
    /// RSA key (PEM) for encrypted assertions, and its certificate (PEM).
    public let encryptionKey: String
    public let encryptionCertificate: String
    /// RSA key (PEM) that assertions were encrypted to before, and may be until the MVPDs have read our metadata anew.
    public let otherEncryptionKey: String?
    /// P-256 key (PEM) that signs access tokens.
    public let accessTokenKey: String
    /// P-256 key (PEM) that will sign them next: its tokens are good already.
    public let nextAccessTokenKey: String?
    /// P-256 keys (PEM) that signed them before: their tokens are good until they end, also after a restart.
    public let olderAccessTokenKeys: [String]
    /// Seconds for which a new `accessTokenKey` verifies before it signs, 0 to 86400; 60 unless set. Every copy of the service knows the key by then.
    public let accessTokenKeyLead: Int
    /// Key of the scrambled user ids, 64 hex digits. With a new one people get new ids when they sign in next; sessions keep theirs.
    public let userIDKey: String
    /// Key that seals the tokens of OAuth providers and makes PKCE verifiers and nonces, 64 hex digits. With a new one, people of such providers
    /// have to sign in again, unless the former one is listed below.
    public let oauthKey: String
    /// Keys from before, newest first: what they sealed opens.
    public let olderOAuthKeys: [String]
    /// The public address of the callback of OAuth providers, exactly as they know it; `/adobe-services/oauth2` beside `acsURL` unless set.
    /// A record's own callback is this address, a slash, and the MVPD's id.
    public let oauthCallbackURL: String
    /// The rule for answers to the shared address itself, which records of before use: must they say whose they are (RFC 9207)? `open` unless set.
    public let sharedCallback: SharedCallbackRule
    /// Folder with a file `<reference>.secret` for each client secret that the catalogue refers to; without it no OAuth provider can be used.
    public let clientSecrets: String?
    /// Key that seals the secrets that administrators write, 64 hex digits; `secrets.key` in the data folder unless set, made when it is absent.
    public let secretsKey: String?
    /// Keys that sealed them before: what they sealed is sealed anew.
    public let olderSecretsKeys: [String]
    /// P-256 key (PEM) that signs the tokens that apps of the vendor's SDKs keep; `sdk-token.key` in the data folder unless set. It is made when
    /// absent.
    public let sdkTokenKey: String?
    /// Keys that signed them before: their tokens are good until their sessions end, also after a restart.
    public let olderSdkTokenKeys: [String]
    /// Key that seals device ids and what those tokens say of their sessions, 64 hex digits; `sdk-seal.key` in the data folder unless set. It is made
    /// when absent.
    public let sdkSealKey: String?
    /// Keys that sealed them before: what they sealed opens, also after a restart.
    public let olderSdkSealKeys: [String]
    /// RSA key (PEM) that signs service tokens; `service-token.key` in the data folder unless set, made when it is absent.
    public let serviceTokenKey: String?
    /// Keys that signed them before: their tokens are good until they end, also after a restart.
    public let olderServiceTokenKeys: [String]
    /// Seconds, 60 to 86400; 6 hours unless set (rest-v1 §5).
    public let accessTokenTTL: Int
    /// Origins (`scheme://host:port`) of the operator's own activation pages, where a sign-in may end besides the registered domains.
    public let activationOrigins: [String]
    /// Seconds for which a metadata document is valid, 3600 to 31536000; 7 days unless set.
    public let metadataValidity: Int
    /// Sessions kept in memory, devices known to have none, and people whose logins are known, of each 2 to 10000000; 65536 unless set.
    public let cachedSessions: Int
    /// Registration codes that have not ended which a client may have, 10 to 10000000; 100000 unless set. A programmer's backend is one client for
    /// all of its devices.
    public let codesPerClient: Int
    /// The same for a device at a channel, 5 to 10000000; 100 unless set.
    public let codesPerDevice: Int
    /// Days after which an unused client is forgotten, 1 to 3650; 400 unless set (rest-v1 §3.1). Such a client asked for no token and has no session,
    /// profile or live code.
    public let clientDays: Int
    /// The same for a client that never made a code, a session or a profile; 30 unless set.
    public let idleClientDays: Int
    /// Hours for which reports of sign-ins that failed are kept in a store on a server, 1 to 8760; 24 unless set.
    public let reportHours: Int

    /// Upstreams may be in a private network, or on this machine by a name; false unless set. Addresses of this machine's own, and hosts in
    /// `MVPD_STANDIN`, always may be (bridge §14.3).
    public let allowPrivateUpstreams: Bool
    /// Until then a device of whom nothing is known, and for whom there is a client at the upstream, is asked about there, once: for a store whose
    /// sessions were lost, and whose clients at upstreams were not (bridge §8.1). `nil` unless set: nobody is.
    public let adoptUntil: Timestamp?
    /// The certificates that upstreams are shown, by the names that `upstreams[].clientCertificate` of the catalogue uses. One that cannot be read closes
    /// the upstreams that use it, and nothing else.
    public let clientCertificates: [String: ClientCertificateFiles]

    private enum CodingKeys: String, CodingKey {
        case spEntityID, acsURL, logoutURL, signingKey, signingCertificate, otherSigningCertificate, encryptionKey, encryptionCertificate,
            accessTokenKey, nextAccessTokenKey, olderAccessTokenKeys, accessTokenKeyLead, userIDKey
        case accessTokenTTL, activationOrigins, metadataValidity, cachedSessions, oauthKey, oauthCallbackURL, sharedCallback, clientSecrets
        case secretsKey, olderSecretsKeys, otherEncryptionKey, olderOAuthKeys
        case sdkTokenKey, olderSdkTokenKeys, sdkSealKey, olderSdkSealKeys, serviceTokenKey, olderServiceTokenKeys
        case codesPerClient, codesPerDevice, clientDays, idleClientDays, reportHours, allowPrivateUpstreams, clientCertificates
        case adoptUntil
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        spEntityID = try container.text(.spEntityID)
        acsURL = try container.address(.acsURL)
        let origin = RedirectAddress(acsURL)?.origin ?? ""
        logoutURL = container.contains(.logoutURL) ? try container.address(.logoutURL) : origin + "/sp/saml/LogoutServiceHTTPRedirectResponse"
        signingKey = try container.text(.signingKey)
        signingCertificate = try container.text(.signingCertificate)
        otherSigningCertificate = container.contains(.otherSigningCertificate) ? try container.text(.otherSigningCertificate) : nil
        encryptionKey = try container.text(.encryptionKey)
        encryptionCertificate = try container.text(.encryptionCertificate)
        otherEncryptionKey = try container.contains(.otherEncryptionKey) ? container.text(.otherEncryptionKey) : nil
        olderOAuthKeys = try container.decodeIfPresent([String].self, forKey: .olderOAuthKeys) ?? []
        accessTokenKey = try container.text(.accessTokenKey)
        nextAccessTokenKey = try container.contains(.nextAccessTokenKey) ? container.text(.nextAccessTokenKey) : nil
        olderAccessTokenKeys = try container.decodeIfPresent([String].self, forKey: .olderAccessTokenKeys) ?? []
        accessTokenKeyLead = try container.number(.accessTokenKeyLead, 0...86_400, default: 60)
        userIDKey = try container.text(.userIDKey)
        oauthKey = try container.text(.oauthKey)
        clientSecrets = try container.contains(.clientSecrets) ? container.text(.clientSecrets) : nil
        if container.contains(.oauthCallbackURL) {
            oauthCallbackURL = try container.address(.oauthCallbackURL)
        } else {
            oauthCallbackURL = (RedirectAddress(acsURL)?.origin ?? "") + "/adobe-services/oauth2"
        }
        sharedCallback = try container.sharedCallback(.sharedCallback)
        secretsKey = try container.contains(.secretsKey) ? container.text(.secretsKey) : nil
        olderSecretsKeys = try container.decodeIfPresent([String].self, forKey: .olderSecretsKeys) ?? []
        sdkTokenKey = try container.contains(.sdkTokenKey) ? container.text(.sdkTokenKey) : nil
        olderSdkTokenKeys = try container.decodeIfPresent([String].self, forKey: .olderSdkTokenKeys) ?? []
        sdkSealKey = try container.contains(.sdkSealKey) ? container.text(.sdkSealKey) : nil
        olderSdkSealKeys = try container.decodeIfPresent([String].self, forKey: .olderSdkSealKeys) ?? []
        serviceTokenKey = try container.contains(.serviceTokenKey) ? container.text(.serviceTokenKey) : nil
        olderServiceTokenKeys = try container.decodeIfPresent([String].self, forKey: .olderServiceTokenKeys) ?? []
        accessTokenTTL = try container.number(.accessTokenTTL, 60...86_400, default: 21_600)
        activationOrigins = try container.origins(.activationOrigins)
        metadataValidity = try container.number(.metadataValidity, 3600...31_536_000, default: 604_800)
        codesPerClient = try container.number(.codesPerClient, 10...Self.mostCodes, default: 100_000)
        codesPerDevice = try container.number(.codesPerDevice, 5...Self.mostCodes, default: 100)
        clientDays = try container.number(.clientDays, 1...3650, default: 400)
        idleClientDays = try container.number(.idleClientDays, 1...3650, default: 30)
        reportHours = try container.number(.reportHours, 1...8760, default: 24)
        allowPrivateUpstreams = try container.decodeIfPresent(Bool.self, forKey: .allowPrivateUpstreams) ?? false
        adoptUntil = try container.contains(.adoptUntil) ? container.moment(.adoptUntil) : nil
        clientCertificates = try container.decodeIfPresent([String: ClientCertificateFiles].self, forKey: .clientCertificates) ?? [:]
        cachedSessions = try container.number(.cachedSessions, 2...10_000_000, default: 65_536)
    }
}

extension AuthenticationSettings {
    /// The limit for a client, and for a device.
    private static let mostCodes = 10_000_000

    /// Warnings about settings with which the service starts all the same: one line for each, which begins with the key.
    /// - Parameters:
    ///   - now: Some depend on the time.
    ///   - path: Makes a path of the settings absolute.
    public func doubts(now: Timestamp = SystemClock().now(), path: (String) -> String) -> [String] {
        limitDoubts + timeDoubts(now)
            + ClientCertificates().replace(loadClientCertificates(path: path)).map {
                "authentication.clientCertificates.\($0.name) closes each upstream that names it: \($0.reason)"
            }
    }

    private var limitDoubts: [String] {
        [("codesPerClient", codesPerClient, 100_000), ("codesPerDevice", codesPerDevice, 100)].filter { $0.1 == Self.mostCodes }.map {
            key, most, usual in
            "authentication.\(key) \(most) is no limit, as in a cluster for development: one that makes codes without end fills the store; "
                + "leave it out for \(usual)"
        }
    }

    private func timeDoubts(_ now: Timestamp) -> [String] {
        guard let adoptUntil, adoptUntil <= now else { return [] }
        return ["authentication.adoptUntil has passed, and is without effect: leave it out"]
    }

    /// The files of the certificates that upstreams are shown.
    public var clientCertificateFiles: [String] { clientCertificates.values.flatMap { [$0.certificate, $0.key] } }

    /// - Parameter path: Makes a path of the settings absolute.
    /// - Returns: For each name the certificate, or what is wrong with its files.
    public func loadClientCertificates(path: (String) -> String) -> ClientCertificates.Loaded {
        clientCertificates.mapValues { files in
            do throws(ClientCertificateError) { return .success(try files.load(path: path)) } catch { return .failure(error) }
        }
    }

    /// The files of keys of access tokens.
    public var accessTokenKeyFiles: [String] { [accessTokenKey] + (nextAccessTokenKey.map { [$0] } ?? []) + olderAccessTokenKeys }

    /// The files of the other keys that may change while the service runs.
    public var keyFiles: [String] {
        [signingKey, signingCertificate, encryptionKey, encryptionCertificate, userIDKey, oauthKey] + olderOAuthKeys
            + [otherSigningCertificate, otherEncryptionKey].compactMap(\.self)
    }

    /// Scheme, host and port of the public addresses.
    package var origin: String { RedirectAddress(acsURL)?.origin ?? "" }
}

extension KeyedDecodingContainer {
    fileprivate func text(_ key: Key) throws -> String {
        let text = try decode(String.self, forKey: key)
        guard !text.isEmpty else { throw refuse(key, "must not be empty") }
        return text
    }

    fileprivate func address(_ key: Key) throws -> String {
        let text = try text(key)
        guard RedirectAddress(text)?.isWeb == true else { throw refuse(key, "must be an http or https address; it is '\(text)'") }
        return text
    }

    fileprivate func sharedCallback(_ key: Key) throws -> SharedCallbackRule {
        let text = try decodeIfPresent(String.self, forKey: key) ?? SharedCallbackRule.open.rawValue
        guard let rule = SharedCallbackRule(rawValue: text) else { throw refuse(key, "must be 'open' or 'iss'; it is '\(text)'") }
        return rule
    }

    fileprivate func number(_ key: Key, _ range: ClosedRange<Int>, default fallback: Int) throws -> Int {
        let number = try decodeIfPresent(Int.self, forKey: key) ?? fallback
        guard range.contains(number) else { throw refuse(key, "must be from \(range.lowerBound) to \(range.upperBound); it is \(number)") }
        return number
    }

    /// A moment in UTC, to the second (RFC 3339): `2027-01-31T18:00:00Z`.
    fileprivate func moment(_ key: Key) throws -> Timestamp {
        let text = try text(key)
        guard let match = text.wholeMatch(of: /(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})Z/) else {
            throw refuse(key, "must be a moment such as 2027-01-31T18:00:00Z; it is '\(text)'")
        }
        let numbers = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int($0) }
        guard numbers.count == 6, let day = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]), numbers[3] < 24, numbers[4] < 60,
            numbers[5] < 60
        else { throw refuse(key, "must be a moment that exists; it is '\(text)'") }
        return Timestamp(seconds: Int64(day.daysSince1970 * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]))
    }

    /// Origins in the form in which they are compared.
    fileprivate func origins(_ key: Key) throws -> [String] {
        try (decodeIfPresent([String].self, forKey: key) ?? []).map { text in
            guard let address = RedirectAddress(text), address.isWeb, address.origin == text.lowercased() else {
                throw refuse(key, "must hold origins such as https://activate.example; one is '\(text)'")
            }
            return address.origin
        }
    }

    private func refuse(_ key: Key, _ problem: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: problem)
    }
}
