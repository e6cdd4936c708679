internal import SandboxKit
internal import Clocks

/// The OAuth side of an MVPD: its clients, keys and memory.
struct OAuthProvider: Sendable {
    /// Seconds.
    static let identityTokenLifetime: Int64 = 300
    static let codeLifetime = Duration.seconds(60)
    static let refreshLifetime = Duration.seconds(180 * 86_400)

    struct Client: Sendable {
        let secret: String
        let redirectURIs: [String]
    }

    let identity: IdentityProvider
    let issuer: String
    let clients: [String: Client]
    let keys: [OAuthSigningKey]
    let memory = OAuthMemory()

    init(_ identity: IdentityProvider, _ settings: OAuthSettings, index: Int) throws(SettingsFault) {
        self.identity = identity
        issuer = settings.issuer
        var clients: [String: Client] = [:]
        for (number, client) in settings.clients.enumerated() {
            let place = "mvpds[\(index)].oauth.clients[\(number)]"
            let octets = try KeyFile.read(client.secret, key: "\(place).secret")
            let secret = String(decoding: octets, as: UTF8.self).filter { !$0.isWhitespace }
            if secret.isEmpty { throw SettingsFault(key: "\(place).secret", problem: "names an empty file: \(client.secret)") }
            guard clients.updateValue(Client(secret: secret, redirectURIs: client.redirectURIs), forKey: client.id) == nil else {
                throw SettingsFault(key: "\(place).id", problem: "is used twice")
            }
        }
        if clients.isEmpty { throw SettingsFault(key: "mvpds[\(index)].oauth.clients", problem: "names no client") }
        self.clients = clients
        var keys = [try OAuthSigningKey(identity.key, identity.certificate, place: "mvpds[\(index)].key")]
        if let file = settings.nextKey, let certificate = settings.nextCertificate {
            let place = "mvpds[\(index)].oauth.nextKey"
            let key = try KeyFile.signingKey(file, key: place)
            let parsed = try KeyFile.certificate(certificate, key: "mvpds[\(index)].oauth.nextCertificate")
            guard key.matches(parsed) else { throw SettingsFault(key: place, problem: "does not belong to the certificate") }
            keys.append(try OAuthSigningKey(key, parsed, place: place))
        }
        self.keys = keys
    }

    var id: String { identity.id }

    /// The key that signs now: after a rotation the second one.
    var currentKey: OAuthSigningKey { memory.isRotated ? keys[keys.count - 1] : keys[0] }

    func client(_ id: String, secret: String) -> Client? {
        guard let client = clients[id], client.secret == secret else { return nil }
        return client
    }

    /// As `grant(accessToken:)`, from the header `Authorization`.
    func grant(bearer header: String?, at now: Timestamp) -> OAuthGrant? {
        guard let header, header.hasPrefix("Bearer ") else { return nil }
        return grant(accessToken: String(header.dropFirst(7)), at: now)
    }

    /// The person and the client of an access token that is still good.
    func grant(accessToken: String, at now: Timestamp) -> OAuthGrant? {
        guard let grant = identity.seal.open(accessToken, as: OAuthGrant.self, purpose: "oauth-access", at: now), !memory.isRevoked(grant) else {
            return nil
        }
        return grant
    }
}

/// A key with its public half as a JWK.
struct OAuthSigningKey: Sendable {
    let identifier: String
    let key: SandboxSigningKey
    /// JSON of the public key (RFC 7517).
    let jwk: String

    init(_ key: SandboxSigningKey, _ certificate: Certificate, place: String) throws(SettingsFault) {
        self.key = key
        do {
            let (modulus, exponent) = try certificate.publicNumbers()
            identifier = Base64.urlText(Array(Digest.sha256(modulus).prefix(12)))
            jwk =
                #"{"kty":"RSA","use":"sig","alg":"RS256","kid":"\#(identifier)","n":"\#(Base64.urlText(modulus))","e":"\#(Base64.urlText(exponent))"}"#
        } catch {
            throw SettingsFault(key: place, problem: "cannot be used: \(error.reason)")
        }
    }
}

/// The settings that make an MVPD an OAuth 2.0 and OpenID provider (mvpd §5 item 3).
package struct OAuthSettings: Sendable, Equatable {
    /// A client of the provider.
    package struct Client: Sendable, Equatable {
        package var id: String
        /// File with the secret.
        package var secret: String
        /// Answers go to these addresses, character by character, and nowhere else.
        package var redirectURIs: [String]

        /// As the settings file has it.
        struct Entry: Decodable {
            let id: String
            let secret: String
            let redirectURIs: [String]
        }

        init(_ entry: Entry, resolve: (String) -> String) {
            id = entry.id
            secret = resolve(entry.secret)
            redirectURIs = entry.redirectURIs
        }
    }

    package var issuer: String
    package var clients: [Client]
    /// Files with the key that takes the first one's place when keys are rotated, and with its certificate; nil: there is none.
    package var nextKey: String?
    package var nextCertificate: String?
}

extension OAuthSettings {
    /// As the settings file has it.
    package struct Entry: Decodable {
        let issuer: String?
        let clients: [Client.Entry]
        let nextKey: String?
        let nextCertificate: String?
    }

    init(_ entry: Entry, mvpd: String, publicURL: String, resolve: (String) -> String) {
        self.init(
            issuer: entry.issuer ?? "\(publicURL)/oauth/\(mvpd)",
            clients: entry.clients.map { Client($0, resolve: resolve) },
            nextKey: entry.nextKey.map(resolve), nextCertificate: entry.nextCertificate.map(resolve))
    }
}

/// An application's request on behalf of a person (RFC 6749 §4.1.1, RFC 7636 §4.3).
struct OAuthRequest: Codable, Sendable, Equatable {
    let client: String
    let redirectURI: String
    let state: String
    let nonce: String?
    let challenge: String
    let scope: String
    /// `prompt` and `acr_values` as they were sent.
    let prompt: String?
    let authenticationContext: String?

    /// True when the provider must not show a page (`prompt=none`).
    var isSilent: Bool { prompt == "none" }

    /// True when the home network may identify the person.
    var acceptsHome: Bool { isSilent || authenticationContext?.contains("InternetProtocol") == true }
}

/// The grant of a code. It is sealed into the code itself.
struct OAuthCode: Codable, Sendable {
    let request: OAuthRequest
    let person: String
    let isHome: Bool
    let identifier: String
}

/// The grant of an access or a refresh token; sealed into the token.
struct OAuthGrant: Codable, Sendable {
    let person: String
    let client: String
    let isHome: Bool
    /// The sign-in that it came from.
    let family: String
    /// Counts the refresh tokens of a family, from 0.
    let generation: Int
    /// Makes each token another text.
    let identifier: String
}
