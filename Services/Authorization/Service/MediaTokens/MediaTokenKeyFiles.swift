internal import Cryptography
public import Tokens

/// The keys that media tokens are signed with, as they were read from their files.
public struct MediaTokenKeyFiles: Sendable {
    public let reference: ReferenceKey
    public let jwsKey: SigningKey
    /// Will sign next.
    public let nextJwsKey: SigningKey?

    /// - Parameters:
    ///   - settings: What names the files.
    ///   - path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyProblem` naming the setting and what is wrong with its file.
    public init(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyProblem) {
        let key = try Self.load("mediaTokenKey", settings.mediaTokenKey, path, RSAPrivateKey.init(pemFile:))
        var certificates: [Certificate] = []
        for file in settings.mediaTokenCertificates {
            certificates += try Self.load("mediaTokenCertificates", file, path, Certificate.all(pemFile:))
        }
        guard let reference = ReferenceKey(key, certificates: certificates) else {
            throw MediaTokenKeyProblem(key: "mediaTokenCertificates", problem: "must begin with the certificate of mediaTokenKey")
        }
        self.reference = reference
        jwsKey = try Self.load("mediaTokenJwsKey", settings.mediaTokenJwsKey, path, SigningKey.init(pemFile:))
        nextJwsKey = try settings.nextMediaTokenJwsKey.map { file throws(MediaTokenKeyProblem) in
            try Self.load("nextMediaTokenJwsKey", file, path, SigningKey.init(pemFile:))
        }
    }

    /// The files that the settings name.
    public static func paths(_ settings: AuthorizationSettings) -> [String] {
        [settings.mediaTokenKey] + settings.mediaTokenCertificates + [settings.mediaTokenJwsKey] + (settings.nextMediaTokenJwsKey.map { [$0] } ?? [])
    }

    /// The keys that sign stored permits, as the files hold them now.
    /// - Parameter file: Of the current one: that of the settings, or where it is made when they name none.
    /// - Throws: As `init`.
    public static func storedTokens(
        _ settings: AuthorizationSettings, file: String, path: (String) -> String
    ) throws(MediaTokenKeyProblem) -> SigningKeyFiles {
        var older: [JSONWebKey] = []
        for file in settings.olderSdkTokenKeys {
            older.append(
                try load("olderSdkTokenKeys", file, path) { path throws(CryptographyError) in
                    JSONWebKey(.p256(try P256PublicKey(ofEitherPEMFile: path)))
                })
        }
        return SigningKeyFiles(current: try load("sdkTokenKey", file, path, SigningKey.init(pemFile:)), older: older)
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
