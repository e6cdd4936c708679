internal import Octets
internal import COpenSSL

/// An RSA key of at least 2048 bits that verifies.
public struct RSAPublicKey: Sendable {
    let handle: KeyHandle

    init(handle: KeyHandle) throws(CryptographyError) {
        try handle.requireRSA()
        self.handle = handle
    }

    init(trusted handle: KeyHandle) { self.handle = handle }

    /// - Parameter pem: SubjectPublicKeyInfo.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`, `.weakKey`.
    public init(pem: String) throws(CryptographyError) { try self.init(handle: .publicKey(pem: pem)) }

    /// The public key of a file that holds a public key or a private one.
    /// - Parameter pem: SubjectPublicKeyInfo, PKCS#8 or PKCS#1, not encrypted.
    /// - Throws: `CryptographyError.notPEM`, `.wrongKeyType`, `.weakKey`.
    public init(ofEitherPEM pem: String) throws(CryptographyError) {
        do {
            try self.init(pem: pem)
        } catch .notPEM {
            do {
                self = try RSAPrivateKey(pem: pem).publicKey
            } catch .notPEM {
                throw .notPEM(expected: "public or private key")
            }
        }
    }

    /// - Parameters:
    ///   - modulus: Big-endian, as `n` of a JWK.
    ///   - exponent: Big-endian, as `e` of a JWK.
    /// - Throws: `CryptographyError.malformed` when the numbers are no key, `.weakKey` below 2048 bits.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
        try self.init(handle: KeyHandle(built: boxoffice_rsa_public_key(modulus, modulus.count, exponent, exponent.count)))
    }

    /// Big-endian without leading zeros, as `n` of a JWK.
    public var modulus: [UInt8] { number(OSSL_PKEY_PARAM_RSA_N) }
    /// Big-endian without leading zeros, as `e` of a JWK.
    public var exponent: [UInt8] { number(OSSL_PKEY_PARAM_RSA_E) }
    public var bitCount: Int { handle.bitCount }

    /// True when `signature` is over the SHA-256 of the bytes by this key.
    public func isValid(_ signature: [UInt8], for bytes: [UInt8], scheme: RSASignatureScheme = .pkcs1v15) -> Bool {
        handle.isValid(signature, for: bytes, scheme: scheme)
    }

    /// SubjectPublicKeyInfo as PEM text.
    /// - Throws: `CryptographyError.failed`.
    public func pem() throws(CryptographyError) -> String { try handle.publicKeyPEM() }

    /// SHA-256 of the DER SubjectPublicKeyInfo, 32 bytes: names the key.
    /// - Throws: `CryptographyError.failed`.
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
