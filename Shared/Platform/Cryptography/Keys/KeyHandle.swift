internal import COpenSSL
internal import Octets

/// Owns one `EVP_PKEY`.
///
/// `@unchecked Sendable`: the key is never changed after `init`, libcrypto counts references atomically and lets threads sign and verify with
/// one key at the same time.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: Becomes this object's own.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// libcrypto's name of the kind of key: `RSA`, `EC`, ...
    var typeName: String { EVP_PKEY_get0_type_name(pointer).map { String(cString: $0) } ?? "unknown" }

    var bitCount: Int { Int(EVP_PKEY_get_bits(pointer)) }

    /// Name of the curve of an EC key.
    var groupName: String? {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else { return nil }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// - Throws: `CryptographyError.wrongKeyType` unless the key is RSA, `weakKey` below 2048 bits.
    func requireRSA() throws(CryptographyError) {
        guard typeName == "RSA" else { throw .wrongKeyType(expected: "RSA", found: typeName) }
        guard bitCount >= 2048 else { throw .weakKey(bits: bitCount) }
    }

    /// - Throws: `CryptographyError.wrongKeyType` unless the key is on the curve P-256.
    func requireP256() throws(CryptographyError) {
        guard typeName == "EC" else { throw .wrongKeyType(expected: "P-256", found: typeName) }
        guard groupName == "prime256v1" else { throw .wrongKeyType(expected: "P-256", found: "EC on \(groupName ?? "an unnamed curve")") }
    }

    /// SHA-256 of the bytes, signed by an RSA key.
    func sign(_ bytes: [UInt8], scheme: RSASignatureScheme) throws(CryptographyError) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = Int(EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: count)
        var parameters: OpaquePointer?
        guard EVP_DigestSignInit(context, &parameters, EVP_sha256(), nil, pointer) == 1, scheme.configure(parameters),
            EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        else { throw .last("signing") }
        return Array(signature.prefix(count))
    }

    /// - Parameter scheme: For RSA only.
    func isValid(_ signature: [UInt8], for bytes: [UInt8], scheme: RSASignatureScheme = .pkcs1v15) -> Bool {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        let isValid =
            EVP_DigestVerifyInit(context, &parameters, EVP_sha256(), nil, pointer) == 1 && scheme.configure(parameters)
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
        if !isValid { ERR_clear_error() }
        return isValid
    }

    /// SHA-256 of the DER SubjectPublicKeyInfo.
    func publicKeyDigest() throws(CryptographyError) -> [UInt8] {
        SHA256.hash(try writeBytes("encoding the public key") { i2d_PUBKEY_bio($0, pointer) })
    }

    func privateKeyPEM() throws(CryptographyError) -> String {
        let bytes = try writeBytes("encoding the private key") { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func publicKeyPEM() throws(CryptographyError) -> String {
        let bytes = try writeBytes("encoding the public key") { PEM_write_bio_PUBKEY($0, pointer) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A new key.
    /// - Parameters:
    ///   - type: libcrypto's name, `RSA` or `EC`.
    ///   - configure: Sets size or curve; returns 1 on success.
    static func generate(_ type: String, _ configure: (OpaquePointer?) -> Int32) throws(CryptographyError) -> KeyHandle {
        let context = EVP_PKEY_CTX_new_from_name(nil, type, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, configure(context) == 1, EVP_PKEY_generate(context, &key) == 1, let key else {
            throw .last("generating an \(type) key")
        }
        return KeyHandle(owning: key)
    }

    /// The first private key of a PEM text; an encrypted one is refused (there is no prompt for a password).
    static func privateKey(pem: String) throws(CryptographyError) -> KeyHandle {
        let text = Pem.text(pem)
        guard !Pem.holdsEncryptedKey(text) else { throw .encryptedKey }
        return try read(Array(text.utf8), expected: "private key") { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) }
    }

    static func publicKey(pem: String) throws(CryptographyError) -> KeyHandle {
        try read(Array(Pem.text(pem).utf8), expected: "public key") { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in 0 }, nil) }
    }

    private static func read(
        _ bytes: [UInt8], expected: String, _ parse: (OpaquePointer?) -> OpaquePointer?
    ) throws(CryptographyError) -> KeyHandle {
        let key = withReadBuffer(bytes, parse)
        guard let key else {
            ERR_clear_error()
            throw .notPEM(expected: expected)
        }
        return KeyHandle(owning: key)
    }
}

extension KeyHandle {
    /// - Parameter built: A new public key, or `nil` when its numbers make none.
    convenience init(built pointer: OpaquePointer?) throws(CryptographyError) {
        guard let pointer else {
            ERR_clear_error()
            throw .malformed("public key")
        }
        self.init(owning: pointer)
    }
}

/// A prepared signature with SHA-256: PKCS#1 v1.5 for RSA, a DER sequence for EC.
///
/// Preparing looks algorithms up by name, which takes a seventh of the time of an ECDSA signature; copying what is prepared takes next to none.
///
/// `@unchecked Sendable`: the context is never changed after `init`. `EVP_MD_CTX_copy_ex` only reads its source and counts references atomically, so
/// threads may copy it at the same time.
final class SignatureTemplate: @unchecked Sendable {
    private let context: OpaquePointer
    private let longest: Int
    // The context holds its own reference to the key; this property makes the ownership explicit.
    private let key: KeyHandle

    /// - Throws: `CryptographyError` when the key cannot sign.
    init(_ key: KeyHandle) throws(CryptographyError) {
        guard let context = EVP_MD_CTX_new() else { throw .last("preparing a signature") }
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1 else {
            EVP_MD_CTX_free(context)
            throw .last("preparing a signature")
        }
        self.context = context
        self.key = key
        longest = Int(EVP_PKEY_get_size(key.pointer))
    }

    deinit { EVP_MD_CTX_free(context) }

    /// SHA-256 of the bytes, signed.
    func sign(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let copy = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(copy) }
        guard EVP_MD_CTX_copy_ex(copy, context) == 1 else { throw .last("signing") }
        var count = longest
        var isDone = false
        let signature = [UInt8](unsafeUninitializedCapacity: longest) { buffer, used in
            isDone = EVP_DigestSign(copy, buffer.baseAddress, &count, bytes, bytes.count) == 1
            used = isDone ? count : 0
        }
        guard isDone else { throw .last("signing") }
        return signature
    }
}
