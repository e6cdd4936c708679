internal import COpenSSL

/// An RSA key of at least 2048 bits that signs; prints as `[hidden]`.
public struct RSAPrivateKey: Sendable, CustomStringConvertible {
    let handle: KeyHandle

    init(handle: KeyHandle) throws(CryptographyError) {
        try handle.requireRSA()
        self.handle = handle
    }

    /// - Parameter pem: PKCS#8 or PKCS#1, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`, `.weakKey`.
    public init(pem: String) throws(CryptographyError) { try self.init(handle: .privateKey(pem: pem)) }

    /// - Throws: as `init(pem:)`, and `CryptographyError.unreadableFile`.
    public init(pemFile path: String) throws(CryptographyError) {
        try self.init(pem: String(decoding: try SecretFile.read(path), as: UTF8.self))
    }

    /// - Parameter bits: 2048 to 8192.
    public static func generate(bits: Int = 2048) throws(CryptographyError) -> RSAPrivateKey {
        guard (2048...8192).contains(bits) else { throw .weakKey(bits: bits) }
        return try RSAPrivateKey(handle: .generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)) })
    }

    public var publicKey: RSAPublicKey { RSAPublicKey(trusted: handle) }

    /// PKCS#8 PEM, not encrypted: the file must have mode 0600.
    public func pem() throws(CryptographyError) -> String { try handle.privateKeyPEM() }

    /// SHA256withRSA (PKCS#1 v1.5). Costs about half a millisecond at 2048 bits: never on an event loop.
    public func sign(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] { try handle.sign(bytes) }

    public var description: String { "[hidden]" }
}

/// An RSA key of at least 2048 bits that verifies.
public struct RSAPublicKey: Sendable {
    let handle: KeyHandle

    init(handle: KeyHandle) throws(CryptographyError) {
        try handle.requireRSA()
        self.handle = handle
    }

    init(trusted handle: KeyHandle) { self.handle = handle }

    /// - Parameter pem: SubjectPublicKeyInfo.
    public init(pem: String) throws(CryptographyError) { try self.init(handle: .publicKey(pem: pem)) }

    /// - Parameters:
    ///   - modulus: Big-endian, as `n` of a JWK.
    ///   - exponent: Big-endian, as `e` of a JWK.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
        try self.init(handle: KeyHandle(built: boxoffice_rsa_public_key(modulus, modulus.count, exponent, exponent.count)))
    }

    /// Big-endian without leading zeros, as `n` of a JWK.
    public var modulus: [UInt8] { number(OSSL_PKEY_PARAM_RSA_N) }
    /// Big-endian without leading zeros, as `e` of a JWK.
    public var exponent: [UInt8] { number(OSSL_PKEY_PARAM_RSA_E) }
    public var bitCount: Int { handle.bitCount }

    /// True when `signature` is SHA256withRSA over the bytes by this key.
    public func isValid(_ signature: [UInt8], for bytes: [UInt8]) -> Bool { handle.isValid(signature, for: bytes) }

    public func pem() throws(CryptographyError) -> String { try handle.publicKeyPEM() }

    /// SHA-256 of the DER SubjectPublicKeyInfo, 32 bytes: names the key.
    public func digest() throws(CryptographyError) -> [UInt8] { try handle.publicKeyDigest() }

    private func number(_ name: String) -> [UInt8] {
        var value: OpaquePointer?
        let found = EVP_PKEY_get_bn_param(handle.pointer, name, &value)
        precondition(found == 1, "an RSA key has a modulus and an exponent")
        defer { BN_free(value) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(value) + 7) / 8)
        BN_bn2bin(value, &bytes)
        return bytes
    }
}
