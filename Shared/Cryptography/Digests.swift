internal import COpenSSL

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// Length of a digest in bytes.
    public static let byteCount = 32

    /// - Returns: 32 bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        precondition(done == 1, "libcrypto lacks SHA-256")
        return digest
    }

    /// SHA-256 of a text's UTF-8 bytes.
    public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}

/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
    /// - Returns: 32 bytes.
    public static func authenticate(_ bytes: [UInt8], key: SymmetricKey) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        let secret = key.bytes
        let done = HMAC(EVP_sha256(), secret, Int32(secret.count), bytes, bytes.count, &code, nil)
        precondition(done != nil, "libcrypto lacks HMAC-SHA-256")
        return code
    }

    /// True when `code` authenticates `bytes`; takes the same time whatever the difference.
    public static func isValid(_ code: [UInt8], for bytes: [UInt8], key: SymmetricKey) -> Bool {
        ConstantTime.equal(code, authenticate(bytes, key: key))
    }
}

/// Comparisons whose duration tells nothing of where two values differ.
public enum ConstantTime {
    /// Equality of two byte strings; only a difference in length shows in the time it takes.
    public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// Equality of two texts by their UTF-8 bytes.
    public static func equal(_ left: String, _ right: String) -> Bool { equal(Array(left.utf8), Array(right.utf8)) }
}

/// Unpredictable bytes from libcrypto's generator.
public enum SecureRandom {
    /// - Parameter count: How many, 1 or more.
    public static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = RAND_bytes(&bytes, Int32(count))
        precondition(done == 1, "no entropy")
        return bytes
    }
}
