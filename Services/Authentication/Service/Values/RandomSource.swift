internal import Cryptography

/// Where unpredictable bytes come from; a test may decide them.
protocol RandomSource: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A version 4 UUID in lower case (RFC 9562 §5.4).
    func uuid() -> String {
        var random = bytes(16)
        random[6] = random[6] & 0x0f | 0x40
        random[8] = random[8] & 0x3f | 0x80
        let digits = Array(Hex.encode(random))
        let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
        return groups.map { String($0) }.joined(separator: "-")
    }
}

/// The system's generator.
struct SystemRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { SecureRandom.bytes(count) }
}
