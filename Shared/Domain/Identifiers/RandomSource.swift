package import Clocks
internal import Cryptography

/// Where unpredictable bytes come from; a test may decide them.
package protocol RandomSource: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A version 4 UUID in lower case (RFC 9562 §5.4).
    package func uuid() -> String { Self.uuid(bytes(16), version: 4) }

    /// A version 7 UUID in lower case (RFC 9562 §5.7): of two, the one made in a later millisecond is the larger one. An index over such ids
    /// grows at its end instead of everywhere, so that a commit of many rows changes few of its pages.
    package func uuid(madeAt moment: Timestamp) -> String {
        var bytes = bytes(16)
        let milliseconds = UInt64(clamping: moment.milliseconds)
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> UInt64(40 - 8 * index)) }
        return Self.uuid(bytes, version: 7)
    }

    /// A number from 0 to 1.
    package func fraction() -> Double {
        let number = bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(number) / Double(UInt32.max)
    }

    /// - Parameter bytes: 16; version and variant are put over six of their bits.
    private static func uuid(_ bytes: [UInt8], version: UInt8) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0f | version << 4
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Hex.encode(bytes).utf8
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, digit) in digits.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The system's generator.
package struct SystemRandom: RandomSource {
    package init() {}

    package func bytes(_ count: Int) -> [UInt8] { SecureRandom.bytes(count) }
}
