internal import COpenSSL
internal import Octets

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

/// An RSA key signs a SHA-256 digest in one of these ways (RFC 8017 §8).
public enum RSASignatureScheme: Hashable, Sendable {
    /// RSASSA-PKCS1-v1_5; JOSE calls it RS256.
    case pkcs1v15
    /// RSASSA-PSS with MGF1 over SHA-256 and a salt of 32 bytes; JOSE calls it PS256 (RFC 7518 §3.5).
    case pss

    /// - Returns: False when libcrypto refuses.
    func configure(_ parameters: OpaquePointer?) -> Bool {
        switch self {
        case .pkcs1v15: true
        case .pss:
            EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1 && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, 32) == 1
        }
    }
}

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

/// A short text is padded before it is encrypted with RSA in one of these ways.
public enum RSAEncryptionPadding: Hashable, Sendable {
    /// RSAES-OAEP (RFC 8017 §7.1) with SHA-256, also inside MGF1, and an empty label.
    case oaepSHA256
    /// RSAES-PKCS1-v1_5 (RFC 8017 §7.2); for receivers that support nothing else.
    case pkcs1v15

    /// Bytes of a block that the padding needs.
    var overhead: Int {
        switch self {
        case .oaepSHA256: 2 * 32 + 2
        case .pkcs1v15: 11
        }
    }
}

extension RSAPublicKey {
    /// Bytes that fit into one block: 190 for OAEP and 2048 bits.
    public func longestPlaintext(_ padding: RSAEncryptionPadding) -> Int { (bitCount + 7) / 8 - padding.overhead }

    /// One block that only the holder of the private key can read.
    /// - Throws: `CryptographyError.malformed` when there is more than fits.
    public func encrypt(_ bytes: [UInt8], padding: RSAEncryptionPadding) throws(CryptographyError) -> [UInt8] {
        guard bytes.count <= longestPlaintext(padding) else { throw .malformed("plaintext: it does not fit into one RSA block") }
        return try handle.transform(bytes, padding, EVP_PKEY_encrypt_init, EVP_PKEY_encrypt, "encrypting")
    }
}

extension RSAPrivateKey {
    /// - Throws: `CryptographyError.cannotOpen` for every fault of the block.
    public func decrypt(_ bytes: [UInt8], padding: RSAEncryptionPadding) throws(CryptographyError) -> [UInt8] {
        do {
            return try handle.transform(bytes, padding, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, "decrypting")
        } catch {
            throw .cannotOpen
        }
    }
}

extension KeyHandle {
    fileprivate func transform(
        _ bytes: [UInt8], _ padding: RSAEncryptionPadding, _ start: (OpaquePointer?) -> Int32,
        _ step: (OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, UnsafePointer<UInt8>?, Int) -> Int32,
        _ operation: String
    ) throws(CryptographyError) -> [UInt8] {
        let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil)
        defer { EVP_PKEY_CTX_free(context) }
        guard start(context) == 1, configure(context, padding) else { throw .last(operation) }
        var count = Int(EVP_PKEY_get_size(pointer))
        var result = [UInt8](repeating: 0, count: count)
        guard step(context, &result, &count, bytes, bytes.count) == 1 else { throw .last(operation) }
        return Array(result.prefix(count))
    }

    private func configure(_ context: OpaquePointer?, _ padding: RSAEncryptionPadding) -> Bool {
        switch padding {
        case .pkcs1v15: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .oaepSHA256:
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1
        }
    }
}
