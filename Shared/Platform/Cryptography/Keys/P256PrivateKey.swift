internal import Octets
internal import COpenSSL

/// A key on the curve P-256 that signs (ES256); prints as `[hidden]`.
public struct P256PrivateKey: Sendable, CustomStringConvertible {
    let handle: KeyHandle
    private let signature: SignatureTemplate

    init(handle: KeyHandle) throws(CryptographyError) {
        try handle.requireP256()
        self.handle = handle
        signature = try SignatureTemplate(handle)
    }

    /// - Parameter pem: PKCS#8 or SEC 1, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`.
    public init(pem: String) throws(CryptographyError) { try self.init(handle: .privateKey(pem: pem)) }

    /// - Throws: as `init(pem:)`, and `CryptographyError.unreadableFile`.
    public init(pemFile path: String) throws(CryptographyError) {
        try self.init(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    /// Makes a new key.
    /// - Throws: `CryptographyError.failed`.
    public static func generate() throws(CryptographyError) -> P256PrivateKey {
        try P256PrivateKey(handle: .generate("EC") { EVP_PKEY_CTX_set_group_name($0, "prime256v1") })
    }

    public var publicKey: P256PublicKey { P256PublicKey(trusted: handle) }

    /// PKCS#8 PEM, not encrypted: the file must have mode 0600.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String { try handle.privateKeyPEM() }

    /// ECDSA over SHA-256 in the form of JOSE (RFC 7518 §3.4): r and s, 32 bytes each.
    /// - Throws: `CryptographyError.failed`.
    public func sign(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] { try ECDSASignature.raw(fromDER: signature.sign(bytes)) }

    public var description: String { "[hidden]" }
}
