internal import Octets
internal import COpenSSL

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// Length of a digest in bytes.
    public static let byteCount = 32

    /// Looked up once: to look it up by name takes longer than to hash a short text.
    ///
    /// `nonisolated(unsafe)`: never changed, and libcrypto lets threads use one algorithm at the same time.
    nonisolated(unsafe) private static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

    /// - Returns: 32 bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, algorithm, nil)
        precondition(done == 1, "libcrypto lacks SHA-256")
        return digest
    }

    /// SHA-256 of a text's UTF-8 bytes.
    public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}
