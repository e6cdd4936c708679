public import Cryptography

/// A P-256 key that signs, with its name.
public struct SigningKey: Sendable {
    /// `kid`: the thumbprint of the public key (RFC 7638).
    public let identifier: String
    let privateKey: P256PrivateKey

    /// Names the key by the thumbprint of its public key.
    public init(_ privateKey: P256PrivateKey) {
        self.privateKey = privateKey
        identifier = JSONWebKey.thumbprint(.p256(privateKey.publicKey))
    }

    /// - Throws: `CryptographyError` naming what is wrong with the file.
    public init(pemFile path: String) throws(CryptographyError) { self.init(try P256PrivateKey(pemFile: path)) }

    public var publicKey: JSONWebKey { JSONWebKey(.p256(privateKey.publicKey), identifier: identifier) }
}
