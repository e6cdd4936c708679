internal import Octets
internal import COpenSSL

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): secret and tamper-proof.
///
/// Sealed bytes are a random nonce (12 bytes), the ciphertext and the tag (16 bytes). With random nonces one key may seal some 2^32 messages.
public enum AESGCM {
    static let nonceByteCount = 12
    static let tagByteCount = 16

    /// - Parameter context: Authenticated but not sealed; `open` needs the same bytes (a row's key, for example).
    /// - Throws: `CryptographyError.failed`.
    public static func seal(_ plaintext: [UInt8], key: SymmetricKey, context: [UInt8] = []) throws(CryptographyError) -> [UInt8] {
        let nonce = SecureRandom.bytes(nonceByteCount)
        let cipher = CipherContext()
        var count: Int32 = 0
        var text = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        guard EVP_EncryptInit_ex(cipher.pointer, EVP_aes_256_gcm(), nil, key.bytes, nonce) == 1,
            context.isEmpty || EVP_EncryptUpdate(cipher.pointer, nil, &count, context, Int32(context.count)) == 1,
            plaintext.isEmpty || EVP_EncryptUpdate(cipher.pointer, &text, &count, plaintext, Int32(plaintext.count)) == 1,
            EVP_EncryptFinal_ex(cipher.pointer, nil, &count) == 1,
            EVP_CIPHER_CTX_ctrl(cipher.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), &tag) == 1
        else { throw .last("sealing") }
        return nonce + text + tag
    }

    /// - Parameters:
    ///   - sealed: Nonce, ciphertext and tag, as `seal` returns them.
    ///   - key: The key that sealed them.
    ///   - context: The same bytes as at `seal`.
    /// - Throws: `CryptographyError.cannotOpen` when the bytes were altered, cut, or sealed with another key or context; `.failed`.
    public static func open(_ sealed: [UInt8], key: SymmetricKey, context: [UInt8] = []) throws(CryptographyError) -> [UInt8] {
        try open(sealed, secret: key.bytes, context: context)
    }

    /// The same with a key that somebody else chose, of AES-128 or AES-256.
    /// - Parameter secret: 16 or 32 bytes.
    /// - Throws: As `open` with a key; `.malformed` for a key of another length.
    public static func open(_ sealed: [UInt8], secret: [UInt8], context: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let algorithm: OpaquePointer?
        switch secret.count {
        case 16: algorithm = EVP_aes_128_gcm()
        case 32: algorithm = EVP_aes_256_gcm()
        default: throw .malformed("key: \(secret.count) bytes instead of 16 or 32")
        }
        guard sealed.count >= nonceByteCount + tagByteCount else { throw .cannotOpen }
        let nonce = Array(sealed.prefix(nonceByteCount))
        let text = Array(sealed.dropFirst(nonceByteCount).dropLast(tagByteCount))
        var tag = Array(sealed.suffix(tagByteCount))
        let cipher = CipherContext()
        var count: Int32 = 0
        var plaintext = [UInt8](repeating: 0, count: text.count)
        guard EVP_DecryptInit_ex(cipher.pointer, algorithm, nil, secret, nonce) == 1,
            EVP_CIPHER_CTX_ctrl(cipher.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagByteCount), &tag) == 1,
            context.isEmpty || EVP_DecryptUpdate(cipher.pointer, nil, &count, context, Int32(context.count)) == 1,
            text.isEmpty || EVP_DecryptUpdate(cipher.pointer, &plaintext, &count, text, Int32(text.count)) == 1
        else { throw .last("opening") }
        guard EVP_DecryptFinal_ex(cipher.pointer, nil, &count) == 1 else {
            ERR_clear_error()
            throw .cannotOpen
        }
        return plaintext
    }
}

/// Frees the cipher's state, and with it the key schedule, on deinitialization.
private final class CipherContext {
    let pointer: OpaquePointer?

    init() { pointer = EVP_CIPHER_CTX_new() }

    deinit { EVP_CIPHER_CTX_free(pointer) }
}
