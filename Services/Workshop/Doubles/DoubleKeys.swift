public import Cryptography
public import Tokens

/// The signing keys of doubles; a double without one does not issue what the key would sign.
public struct DoubleKeys: Sendable {
    /// Signs software statements.
    public var statement: SigningKey?
    /// Sign media tokens in the reference form and as JWS.
    public var mediaToken: RSAPrivateKey?
    public var mediaTokenJws: SigningKey?
    /// Verify the reference form, PEM.
    public var mediaTokenCertificates: String

    public init(
        statement: SigningKey? = nil, mediaToken: RSAPrivateKey? = nil, mediaTokenJws: SigningKey? = nil, mediaTokenCertificates: String = ""
    ) {
        self.statement = statement
        self.mediaToken = mediaToken
        self.mediaTokenJws = mediaTokenJws
        self.mediaTokenCertificates = mediaTokenCertificates
    }
}
