public import Cryptography
public import Tokens

/// The keys that media tokens are signed with, as they were read from their files.
public struct MediaTokenKeyFiles: Sendable {
    public let referenceKey: RSAPrivateKey
    /// The first belongs to `referenceKey`.
    public let certificates: [Certificate]
    public let jwsRing: SigningKeyRing

    /// - Parameters:
    ///   - settings: What names the files.
    ///   - path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyProblem` naming the setting and what is wrong with its file.
    public init(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyProblem) {
        referenceKey = try Self.load("mediaTokenKey", settings.mediaTokenKey, path, RSAPrivateKey.init(pemFile:))
        var certificates: [Certificate] = []
        for file in settings.mediaTokenCertificates {
            certificates += try Self.load("mediaTokenCertificates", file, path, Certificate.all(pemFile:))
        }
        self.certificates = certificates
        guard let first = certificates.first, first.belongs(to: .rsa(referenceKey)) else {
            throw MediaTokenKeyProblem(key: "mediaTokenCertificates", problem: "must begin with the certificate of mediaTokenKey")
        }
        let current = try Self.load("mediaTokenJwsKey", settings.mediaTokenJwsKey, path, SigningKey.init(pemFile:))
        var next: SigningKey?
        if let file = settings.nextMediaTokenJwsKey {
            next = try Self.load("nextMediaTokenJwsKey", file, path, SigningKey.init(pemFile:))
        }
        jwsRing = SigningKeyRing(current: current, next: next)
    }

    private static func load<Key>(
        _ key: String, _ file: String, _ path: (String) -> String, _ read: (String) throws(CryptographyError) -> Key
    ) throws(MediaTokenKeyProblem) -> Key {
        do {
            return try read(path(file))
        } catch {
            throw MediaTokenKeyProblem(key: key, problem: "names the file \(path(file)), which is of no use: \(error)")
        }
    }
}
