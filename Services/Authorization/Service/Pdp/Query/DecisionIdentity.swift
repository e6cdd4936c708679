internal import Cryptography
internal import SamlProfile

/// As whom this service asks decision points in the SOAP form.
public struct DecisionIdentity: Sendable {
    /// The base `spEntityId`.
    let entityID: String
    /// nil: questions that need a signature cannot be asked.
    let signingKey: SamlProfile.SigningKey?

    public init(entityID: String = "") {
        self.entityID = entityID
        signingKey = nil
    }

    /// - Parameters:
    ///   - pem: The RSA key that signs questions.
    ///   - certificate: Its certificate, DER.
    /// - Throws: What is wrong with them.
    public init(entityID: String, key pem: String, certificate: [UInt8]) throws {
        self.entityID = entityID
        signingKey = try SamlProfile.SigningKey(pem: pem, certificate: certificate)
    }

    /// - Parameters:
    ///   - settings: What names the entity and the files.
    ///   - path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyProblem` naming the setting and what is wrong with it.
    public init(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyProblem) {
        guard let key = settings.signingKey, let certificate = settings.signingCertificate else {
            self.init(entityID: settings.spEntityID)
            return
        }
        do {
            let pem = try RSAPrivateKey(pemFile: path(key)).pem()
            try self.init(entityID: settings.spEntityID, key: pem, certificate: try Certificate(pemFile: path(certificate)).der)
        } catch {
            throw MediaTokenKeyProblem(key: "signingKey", problem: "and signingCertificate are of no use: \(error)")
        }
    }
}
