internal import Clocks

/// One MVPD: its names, keys, people and manners.
struct IdentityProvider: Sendable {
    /// How long a person stays signed in at the provider itself.
    static let sessionLifetime = Duration.seconds(8 * 3600)
    /// How long a login page stays usable.
    static let loginLifetime = Duration.seconds(15 * 60)

    var settings: SandboxSettings.Mvpd
    var certificate: Certificate
    var key: SigningKey
    let subscribers: Subscribers
    let serviceProvider: ServiceProvider
    let reader: AuthnRequestReader
    let seal: Seal
    let ssoURL: String
    let logoutURL: String
    let logoutReader: LogoutReader
    let issuedNames = IssuedNames()

    init(_ mvpd: SandboxSettings.Mvpd, index: Int, settings: SandboxSettings, serviceProvider: ServiceProvider) throws(SettingsFault) {
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
