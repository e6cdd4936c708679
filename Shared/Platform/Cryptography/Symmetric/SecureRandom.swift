internal import Octets
internal import COpenSSL

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
