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
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, digit) in Hex.encode(random).utf8.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The system's generator.
struct SystemRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { SecureRandom.bytes(count) }
}
