internal import Octets
internal import COpenSSL

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
