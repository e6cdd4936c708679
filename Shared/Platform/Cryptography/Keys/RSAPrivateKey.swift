internal import Octets
internal import COpenSSL

/// An RSA key of at least 2048 bits that signs; prints as `[hidden]`.
public struct RSAPrivateKey: Sendable, CustomStringConvertible {
    let handle: KeyHandle
    private let signature: SignatureTemplate

    init(handle: KeyHandle) throws(CryptographyError) {
        try handle.requireRSA()
        self.handle = handle
        signature = try SignatureTemplate(handle)
    }

    /// - Parameter pem: PKCS#8 or PKCS#1, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`, `.weakKey`.
    public init(pem: String) throws(CryptographyError) { try self.init(handle: .privateKey(pem: pem)) }

    /// - Throws: as `init(pem:)`, and `CryptographyError.unreadableFile`.
    public init(pemFile path: String) throws(CryptographyError) {
        try self.init(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    /// Makes a new key.
    /// - Parameter bits: 2048 to 8192.
    /// - Throws: `CryptographyError.weakKey` for any other size, `.failed`.
    public static func generate(bits: Int = 2048) throws(CryptographyError) -> RSAPrivateKey {
        guard (2048...8192).contains(bits) else { throw .weakKey(bits: bits) }
        return try RSAPrivateKey(handle: .generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)) })
    }

    public var publicKey: RSAPublicKey { RSAPublicKey(trusted: handle) }

    /// PKCS#8 PEM, not encrypted: the file must have mode 0600.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String { try handle.privateKeyPEM() }

    /// Signs the SHA-256 of the bytes. Costs about half a millisecond at 2048 bits: never on an event loop.
    /// - Throws: `CryptographyError.failed`.
    public func sign(_ bytes: [UInt8], scheme: RSASignatureScheme = .pkcs1v15) throws(CryptographyError) -> [UInt8] {
        scheme == .pkcs1v15 ? try signature.sign(bytes) : try handle.sign(bytes, scheme: scheme)
    }

    public var description: String { "[hidden]" }
}
