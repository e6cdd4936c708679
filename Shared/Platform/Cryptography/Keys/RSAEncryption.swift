internal import Octets
internal import COpenSSL

/// How a short text is padded before it is encrypted with RSA.
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
