public import Cryptography
public import Tokens

/// An RSA key of the reference form with the certificates that are published along with it.
public struct ReferenceKey: SuccessiveKey {
    public let key: RSAPrivateKey
    /// The first is the key's own; further ones belong to keys before and after it.
    public let certificates: [Certificate]

    /// - Returns: `nil` unless the first certificate belongs to the key.
    public init?(_ key: RSAPrivateKey, certificates: [Certificate]) {
        guard let first = certificates.first, first.belongs(to: .rsa(key)) else { return nil }
        self.key = key
        self.certificates = certificates
    }

    /// SHA-256 of its certificate, hexadecimal.
    public var identifier: String { Hex.encode(certificates[0].fingerprint) }
}
