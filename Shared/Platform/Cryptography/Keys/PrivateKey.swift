internal import Octets

/// A private key of one of the two kinds that Boxoffice uses.
public enum PrivateKey: Sendable {
    case rsa(RSAPrivateKey)
    case p256(P256PrivateKey)

    /// - Parameter pem: PKCS#8, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`, `.weakKey`.
    public init(pem: String) throws(CryptographyError) {
        let handle = try KeyHandle.privateKey(pem: pem)
        self = handle.typeName == "RSA" ? .rsa(try RSAPrivateKey(handle: handle)) : .p256(try P256PrivateKey(handle: handle))
    }

    /// - Throws: as `init(pem:)`, and `CryptographyError.unreadableFile`.
    public init(pemFile path: String) throws(CryptographyError) {
        try self.init(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    public var publicKey: PublicKey {
        switch self {
        case .rsa(let key): .rsa(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        }
    }

    /// PKCS#8 PEM, not encrypted: the file must have mode 0600.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String { try handle.privateKeyPEM() }

    var handle: KeyHandle {
        switch self {
        case .rsa(let key): key.handle
        case .p256(let key): key.handle
        }
    }
}
