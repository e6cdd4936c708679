internal import Octets

/// A public key of one of the two kinds that Boxoffice uses.
public enum PublicKey: Sendable {
    case rsa(RSAPublicKey)
    case p256(P256PublicKey)

    init(handle: KeyHandle) throws(CryptographyError) {
        self = handle.typeName == "RSA" ? .rsa(try RSAPublicKey(handle: handle)) : .p256(try P256PublicKey(handle: handle))
    }

    /// SHA-256 of the DER SubjectPublicKeyInfo, 32 bytes: names the key.
    /// - Throws: `CryptographyError.failed`.
    public func digest() throws(CryptographyError) -> [UInt8] {
        switch self {
        case .rsa(let key): try key.digest()
        case .p256(let key): try key.digest()
        }
    }
}
