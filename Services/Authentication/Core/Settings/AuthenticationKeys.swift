package import Cryptography
package import SamlProfile
public import Storage
public import Tokens

/// The service's keys, read from the files that its settings name.
public struct AuthenticationKeys: Sendable {
    package let signing: SamlSigningKey
    /// DER.
    package let otherSigningCertificate: [UInt8]?
    package let decryption: DecryptionKey
    /// The one from before.
    package let otherDecryption: DecryptionKey?
    /// DER.
    package let encryptionCertificate: [UInt8]
    public let accessTokens: SigningKeyFiles
    package let userID: SymmetricKey
    package let oauthKey: SymmetricKey
    package let olderOAuthKeys: [SymmetricKey]
    package let oauth: OAuthKeys

    /// The keys for secrets that administrators write.
    public struct SecretKeys: Sendable {
        package let current: SymmetricKey
        package let older: [SymmetricKey]
    }

    /// - Parameter read: Gets a path as it stands in the settings and the key where it stands; returns the file's text.
    /// - Throws: The errors of `read`; `AuthenticationKeyError` when a file does not hold what it should.
    public init(_ settings: AuthenticationSettings, read: (_ path: String, _ key: String) throws -> String) throws {
        func use<Value>(_ path: String, _ name: String, _ make: (String) throws -> Value) throws -> Value {
            try Self.use(path, name, read: read, make)
        }
        let certificate = try use(settings.signingCertificate, "signingCertificate") { try Certificate(pem: $0).der }
        signing = try use(settings.signingKey, "signingKey") { try SamlSigningKey(pem: $0, certificate: certificate) }
        otherSigningCertificate = try settings.otherSigningCertificate.map { path in
            try use(path, "otherSigningCertificate") { try Certificate(pem: $0).der }
        }
        decryption = try use(settings.encryptionKey, "encryptionKey") { try DecryptionKey(pem: $0) }
        encryptionCertificate = try use(settings.encryptionCertificate, "encryptionCertificate") { pem in
            let certificate = try Certificate(pem: pem)
            let key = try use(settings.encryptionKey, "encryptionKey") { try PrivateKey(pem: $0) }
            guard certificate.belongs(to: key) else { throw CryptographyError.malformed("certificate: it is not of the encryption key") }
            return certificate.der
        }
        accessTokens = try Self.accessTokens(settings, read: read)
        userID = try use(settings.userIDKey, "userIDKey", Self.symmetric)
        otherDecryption = try settings.otherEncryptionKey.map { path in
            try use(path, "otherEncryptionKey") { try DecryptionKey(pem: $0) }
        }
        oauthKey = try use(settings.oauthKey, "oauthKey", Self.symmetric)
        olderOAuthKeys = try settings.olderOAuthKeys.enumerated().map { try use($1, "olderOAuthKeys[\($0)]", Self.symmetric) }
        oauth = try OAuthKeys(oauthKey, older: olderOAuthKeys)
    }

    /// The keys of kept secrets, as the files hold them now.
    /// - Parameter path: The path of the current key: that of the settings, or the place where it is made when they name none.
    /// - Throws: As for all keys.
    public static func secretKeys(
        _ settings: AuthenticationSettings, path: String, read: (_ path: String, _ key: String) throws -> String
    ) throws -> SecretKeys {
        try symmetricKeys(path, "secretsKey", settings.olderSecretsKeys, "olderSecretsKeys", read)
    }

    /// The keys of what is sealed in stored tokens, as the files hold them now.
    /// - Parameter path: As for kept secrets.
    /// - Throws: As for all keys.
    public static func storedTokenSeals(
        _ settings: AuthenticationSettings, path: String, read: (_ path: String, _ key: String) throws -> String
    ) throws -> SecretKeys {
        try symmetricKeys(path, "sdkSealKey", settings.olderSdkSealKeys, "olderSdkSealKeys", read)
    }

    private static func symmetricKeys(
        _ path: String, _ name: String, _ older: [String], _ olderName: String, _ read: (_ path: String, _ key: String) throws -> String
    ) throws -> SecretKeys {
        SecretKeys(
            current: try use(path, name, read: read, symmetric),
            older: try older.enumerated().map { index, path in try use(path, "\(olderName)[\(index)]", read: read, symmetric) })
    }

    /// The keys that sign stored tokens, as the files hold them now.
    /// - Parameter path: As for kept secrets.
    /// - Throws: As for all keys.
    public static func storedTokens(
        _ settings: AuthenticationSettings, path: String, read: (_ path: String, _ key: String) throws -> String
    ) throws -> SigningKeyFiles {
        SigningKeyFiles(
            current: try use(path, "sdkTokenKey", read: read) { JoseSigningKey(try P256PrivateKey(pem: $0)) },
            older: try settings.olderSdkTokenKeys.enumerated().map { index, path in
                try use(path, "olderSdkTokenKeys[\(index)]", read: read) { JSONWebKey(.p256(try P256PublicKey(ofEitherPEM: $0))) }
            })
    }

    /// The keys that sign service tokens, as the files hold them now.
    /// - Parameter path: As for kept secrets.
    /// - Throws: As for all keys.
    public static func serviceTokens(
        _ settings: AuthenticationSettings, path: String, read: (_ path: String, _ key: String) throws -> String
    ) throws -> ServiceTokenKeys.Files {
        ServiceTokenKeys.Files(
            current: try use(path, "serviceTokenKey", read: read) { ServiceTokenKey(try RSAPrivateKey(pem: $0)) },
            older: try settings.olderServiceTokenKeys.enumerated().map { index, path in
                try use(path, "olderServiceTokenKeys[\(index)]", read: read) { ServiceTokenKey.verifying(try RSAPublicKey(ofEitherPEM: $0)) }
            })
    }

    /// The keys of access tokens alone, as the files hold them now.
    /// - Parameter read: As for all keys.
    /// - Throws: As for all keys.
    public static func accessTokens(
        _ settings: AuthenticationSettings, read: (_ path: String, _ key: String) throws -> String
    ) throws -> SigningKeyFiles {
        func key(_ path: String, _ name: String) throws -> JoseSigningKey {
            try use(path, name, read: read) { JoseSigningKey(try P256PrivateKey(pem: $0)) }
        }
        return SigningKeyFiles(
            current: try key(settings.accessTokenKey, "accessTokenKey"),
            next: try settings.nextAccessTokenKey.map { try key($0, "nextAccessTokenKey") },
            older: try settings.olderAccessTokenKeys.enumerated().map { index, path in
                try use(path, "olderAccessTokenKeys[\(index)]", read: read) { JSONWebKey(.p256(try P256PublicKey(ofEitherPEM: $0))) }
            })
    }

    private static func use<Value>(
        _ path: String, _ name: String, read: (_ path: String, _ key: String) throws -> String, _ make: (String) throws -> Value
    ) throws -> Value {
        let key = "authentication.\(name)"
        let text = try read(path, key)
        do {
            return try make(text)
        } catch {
            throw AuthenticationKeyError(key: key, problem: "names a file that cannot be used: \(error)")
        }
    }

    private static func symmetric(_ text: String) throws -> SymmetricKey {
        guard let bytes = Hex.decode(text.filter { !$0.isWhitespace }) else { throw CryptographyError.malformed("key: not hex digits") }
        return try SymmetricKey(bytes: bytes)
    }
}

/// A key file cannot be used for this reason; for the operator who starts the service.
public struct AuthenticationKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the file is named, for example `authentication.accessTokenKey`.
    public let key: String
    /// Goes on from the key.
    public let problem: String

    public var description: String { "\(key) \(problem)" }
}

/// The fingerprints that copies on several hosts compare, so that none starts with other secret keys than the others have.
extension AuthenticationKeys {
    /// The fingerprints of the keys for user ids, and for what is sealed for OAuth providers.
    public var fingerprints: [KeyFingerprint] {
        [KeyFingerprint("userIDKey", userID, older: []), KeyFingerprint("oauthKey", oauthKey, older: olderOAuthKeys)]
    }
}

extension AuthenticationKeys.SecretKeys {
    /// - Parameter setting: The setting that names the file of the current key, within `authentication`.
    public func fingerprint(_ setting: String) -> KeyFingerprint { KeyFingerprint(setting, current, older: older) }
}

extension KeyFingerprint {
    fileprivate init(_ setting: String, _ current: SymmetricKey, older: [SymmetricKey]) {
        let name = "authentication.\(setting)"
        func fingerprint(_ key: SymmetricKey) -> [UInt8] { HMACSHA256.authenticate(Array(Self.text(name).utf8), key: key) }
        self.init(name, current: fingerprint(current), older: older.map(fingerprint))
    }
}
