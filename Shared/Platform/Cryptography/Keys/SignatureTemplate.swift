internal import Octets
internal import COpenSSL

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
