internal import Clocks
internal import SandboxKit

/// One MVPD: its names, keys, people and manners.
struct IdentityProvider: Sendable {
    /// A person stays signed in at the provider itself for this long.
    static let sessionLifetime = Duration.seconds(8 * 3600)
    /// A login page stays usable for this long.
    static let loginLifetime = Duration.seconds(15 * 60)

    var settings: MvpdSettings
    var certificate: Certificate
    var key: SandboxSigningKey
    let subscribers: Subscribers
    let serviceProvider: ServiceProvider
    let reader: AuthnRequestReader
    let seal: Seal
    let ssoURL: String
    let logoutURL: String
    let logoutReader: LogoutReader
    let issuedNames = IssuedNames()

    init(_ mvpd: MvpdSettings, index: Int, settings: ProviderSettings, serviceProvider: ServiceProvider) throws(SettingsFault) {
        self.settings = mvpd
        self.serviceProvider = serviceProvider
        certificate = try KeyFile.certificate(mvpd.certificate, key: "mvpds[\(index)].certificate")
        key = try KeyFile.signingKey(mvpd.key, key: "mvpds[\(index)].key")
        guard key.matches(certificate) else { throw SettingsFault(key: "mvpds[\(index)].key", problem: "does not belong to the certificate") }
        do {
            subscribers = try Subscribers(
                people: settings.people, channels: settings.channels, visitorPrefix: settings.visitorPrefix, mvpd: mvpd.id, key: key)
        } catch {
            throw SettingsFault(key: "mvpds[\(index)].key", problem: "cannot be used: \(error.reason)")
        }
        ssoURL = "\(settings.publicURL)/saml/\(mvpd.id)/sso"
        reader = AuthnRequestReader(serviceProvider: serviceProvider, destination: ssoURL, validateRequests: mvpd.validateRequests)
        logoutURL = "\(settings.publicURL)/saml/\(mvpd.id)/slo"
        logoutReader = LogoutReader(serviceProvider: serviceProvider, destination: logoutURL)
        seal = Seal(key: key)
    }

    var id: String { settings.id }
    /// The letter in the provider's mark on pages.
    var initial: String { String(settings.displayName.prefix(1)) }
}

/// The service provider with its certificates loaded.
struct ServiceProvider: Sendable {
    let entityID: String
    let acsURL: String
    let logoutURL: String
    let signingCertificate: Certificate
    let encryptionCertificate: Certificate?

    init(_ settings: ServiceProviderSettings) throws(SettingsFault) {
        entityID = settings.entityID
        acsURL = settings.acsURL
        logoutURL = settings.logoutURL
        signingCertificate = try KeyFile.certificate(settings.signingCertificate, key: "serviceProvider.signingCertificate")
        if let file = settings.encryptionCertificate {
            encryptionCertificate = try KeyFile.certificate(file, key: "serviceProvider.encryptionCertificate")
        } else {
            encryptionCertificate = nil
        }
    }

    /// True when the issuer is this service provider, with or without a requestor's suffix (mvpd §2.2).
    func isIssuer(_ issuer: String) -> Bool { issuer == entityID || requestor(inIssuer: issuer) != nil }

    /// The requestor in an issuer's suffix.
    func requestor(inIssuer issuer: String) -> String? {
        let prefix = entityID + "/on-behalf-of/"
        guard issuer.hasPrefix(prefix), issuer.utf8.count > prefix.utf8.count else { return nil }
        return String(issuer.dropFirst(prefix.count))
    }
}

/// The document from which an operator imports the provider (SAML metadata §2.4.3).
struct ProviderMetadata {
    let provider: IdentityProvider

    func serialized() -> String {
        let descriptor: KeyValuePairs<String, String?> = [
            "WantAuthnRequestsSigned": provider.settings.validateRequests ? "true" : "false",
            "protocolSupportEnumeration": XmlNames.protocol,
        ]
        return XmlNode.element(
            "md:EntityDescriptor",
            ["xmlns:md": XmlNames.metadata, "xmlns:ds": XmlNames.signature, "entityID": provider.settings.entityID],
            [
                .element(
                    "md:IDPSSODescriptor", descriptor,
                    [
                        .element("md:KeyDescriptor", ["use": "signing"], [XmlNames.keyInfo(provider.certificate)]),
                        service("md:SingleLogoutService", XmlNames.redirectBinding, provider.logoutURL),
                        service("md:SingleLogoutService", XmlNames.postBinding, provider.logoutURL),
                        .element("md:NameIDFormat", [:], [.text(NameIDFormat.persistent.rawValue)]),
                        .element("md:NameIDFormat", [:], [.text(NameIDFormat.transient.rawValue)]),
                        service("md:SingleSignOnService", XmlNames.redirectBinding, provider.ssoURL),
                        service("md:SingleSignOnService", XmlNames.postBinding, provider.ssoURL),
                    ])
            ]
        ).serialized()
    }

    private func service(_ name: String, _ binding: String, _ location: String) -> XmlNode {
        .element(name, ["Binding": binding, "Location": location])
    }
}

/// The content of the provider's own cookie: who signed in here, and when.
struct ProviderSession: Sendable, Codable, Equatable {
    let person: String
    let signedInAt: Timestamp
    /// The `SessionIndex` of the assertions that this session gives out.
    let index: String
    /// True when the provider identified the home by its address, without a login.
    var isHomeBased = false
}

/// The provider's cookie that remembers a person, one per MVPD.
enum SessionCookie {
    private static let purpose = "session"

    /// The `Set-Cookie` value. Lax: a browser sends it along when the service provider's page leads here.
    static func header(_ session: ProviderSession, _ provider: IdentityProvider) throws -> String {
        let sealed = try provider.seal.close(session, purpose: purpose, until: session.signedInAt + IdentityProvider.sessionLifetime)
        let age = IdentityProvider.sessionLifetime.components.seconds
        return "\(name(provider.id))=\(sealed); Path=/saml/\(provider.id); Max-Age=\(age); HttpOnly; SameSite=Lax"
    }

    /// The `Set-Cookie` value that removes the cookie.
    static func removal(_ provider: IdentityProvider) -> String {
        "\(name(provider.id))=; Path=/saml/\(provider.id); Max-Age=0; HttpOnly; SameSite=Lax"
    }

    /// The value of the provider's cookie in a `Cookie` header.
    static func value(in header: String, of mvpd: String) -> String? {
        for pair in header.split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == name(mvpd) { return String(parts[1]) }
        }
        return nil
    }

    static func session(_ value: String, _ provider: IdentityProvider, at now: Timestamp) -> ProviderSession? {
        provider.seal.open(value, as: ProviderSession.self, purpose: purpose, at: now)
    }

    private static func name(_ mvpd: String) -> String { "sandbox-session-\(mvpd)" }
}
