internal import Octets
internal import COpenSSL

/// HMAC with SHA-1 (RFC 2104): only for signed requests of existing apps that cannot be changed (clients §2). For message authentication SHA-1 is not
/// broken.
public enum HMACSHA1 {
    public static let byteCount = 20

    /// - Returns: 20 bytes.
    public static func authenticate(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: byteCount)
        let done = HMAC(EVP_sha1(), key, Int32(key.count), bytes, bytes.count, &code, nil)
        precondition(done != nil, "libcrypto lacks HMAC-SHA-1")
        return code
    }
}
