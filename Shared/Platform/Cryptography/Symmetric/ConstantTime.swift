internal import Octets
internal import COpenSSL

/// Comparisons with a duration that does not depend on where two values differ.
public enum ConstantTime {
    /// Equality of two byte strings; only a difference in length shows in the time it takes.
    public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// Equality of two texts by their UTF-8 bytes.
    public static func equal(_ left: String, _ right: String) -> Bool { equal(Array(left.utf8), Array(right.utf8)) }
}
