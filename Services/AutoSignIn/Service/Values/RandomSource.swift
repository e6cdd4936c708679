internal import Clocks
internal import Cryptography

/// Where unpredictable bytes come from; a test may decide them.
protocol RandomSource: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A version 7 UUID in lower case (RFC 9562 §5.7): an index over such ids grows at its end.
    func uuid(madeAt moment: Timestamp) -> String {
        var bytes = bytes(16)
        let milliseconds = UInt64(clamping: moment.milliseconds)
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> UInt64(40 - 8 * index)) }
        bytes[6] = bytes[6] & 0x0f | 0x70
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    /// A number from 0 to 1.
    func fraction() -> Double {
        let number = bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(number) / Double(UInt32.max)
    }
}

/// The system's generator.
struct SystemRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { SecureRandom.bytes(count) }
}
