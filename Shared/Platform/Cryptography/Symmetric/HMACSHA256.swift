internal import COpenSSL
internal import Octets

/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
    /// - Returns: 32 bytes.
    public static func authenticate(_ bytes: [UInt8], key: SymmetricKey) -> [UInt8] {
        authenticate(bytes, secret: key.bytes)
    }

    /// - Parameter secret: A secret of any length (RFC 2104 §2); shorter than 32 bytes it weakens the code.
    private static func authenticate(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        let done = HMAC(EVP_sha256(), secret, Int32(secret.count), bytes, bytes.count, &code, nil)
        precondition(done != nil, "libcrypto lacks HMAC-SHA-256")
        return code
    }

    /// True when `code` authenticates `bytes`; the duration does not depend on where they differ.
    public static func isValid(_ code: [UInt8], for bytes: [UInt8], key: SymmetricKey) -> Bool {
        ConstantTime.equal(code, authenticate(bytes, key: key))
    }

    /// The same with a secret that two parties agreed on, which has a length of its own.
    public static func isValid(_ code: [UInt8], for bytes: [UInt8], secret: [UInt8]) -> Bool {
        ConstantTime.equal(code, authenticate(bytes, secret: secret))
    }
}

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

/// Comparisons with a duration that does not depend on where two values differ.
public enum ConstantTime {
    /// Equality of two byte strings; only a difference in length shows in the time it takes.
    public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// Equality of two texts by their UTF-8 bytes.
    public static func equal(_ left: String, _ right: String) -> Bool { equal(Array(left.utf8), Array(right.utf8)) }
}
