/// The service provider with its certificates loaded.
struct ServiceProvider: Sendable {
    let entityID: String
    let acsURL: String
    let logoutURL: String
    let signingCertificate: Certificate
    let encryptionCertificate: Certificate?

    init(_ settings: SandboxSettings.ServiceProvider) throws(SettingsFault) {
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

    /// Whether the issuer is this service provider, with or without a requestor's suffix (mvpd §2.2).
    func isIssuer(_ issuer: String) -> Bool { issuer == entityID || requestor(inIssuer: issuer) != nil }

    /// The requestor in an issuer's suffix.
    func requestor(inIssuer issuer: String) -> String? {
        let prefix = entityID + "/on-behalf-of/"
        guard issuer.hasPrefix(prefix), issuer.utf8.count > prefix.utf8.count else { return nil }
        return String(issuer.dropFirst(prefix.count))
    }
}
