internal import Octets
internal import Foundation
#if canImport(CryptoKit)
internal import CryptoKit
#else
internal import CLibcrypto
#endif

/// The library's hashes: CryptoKit's on Apple platforms, libcrypto's elsewhere. No other file imports either.
enum Hashes {
    /// - Returns: SHA-256 (FIPS 180-4) of the content: 32 bytes.
    static func sha256(_ content: Data) -> Data {
        #if canImport(CryptoKit)
        return Data(SHA256.hash(data: content))
        #else
        let bytes = Array(content)
        var digest = [UInt8](repeating: 0, count: 32)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        precondition(done == 1, "libcrypto lacks SHA-256")
        return Data(digest)
        #endif
    }

    /// HMAC with SHA-1 (RFC 2104): only for signed requests of apps that cannot be changed (clients §2). For message authentication SHA-1 is not broken.
    /// - Returns: 20 bytes.
    static func hmacSHA1(_ message: Data, key: Data) -> Data {
        #if canImport(CryptoKit)
        return Data(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        #else
        return code(EVP_sha1(), byteCount: 20, message, key)
        #endif
    }

    /// HMAC with SHA-256 (RFC 2104).
    /// - Returns: 32 bytes.
    static func hmacSHA256(_ message: Data, key: Data) -> Data {
        #if canImport(CryptoKit)
        return Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        #else
        return code(EVP_sha256(), byteCount: 32, message, key)
        #endif
    }

    #if !canImport(CryptoKit)
    private static func code(_ algorithm: OpaquePointer?, byteCount: Int, _ message: Data, _ key: Data) -> Data {
        let (bytes, secret) = (Array(message), Array(key))
        var code = [UInt8](repeating: 0, count: byteCount)
        let done = HMAC(algorithm, secret, Int32(secret.count), bytes, bytes.count, &code, nil)
        precondition(done != nil, "libcrypto lacks the hash")
        return Data(code)
    }
    #endif
}
