/// Names a request for support, and its change of state for the services (an idempotency key).
enum RequestIdentifier {
    /// A version 4 UUID in lower case (RFC 9562 §5.4), without opening the system's random device for each.
    static func random() -> String {
        text(.random(in: .min ... .max) & ~0xf000 | 0x4000, .random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62)
    }

    /// 128 bits as a UUID is written.
    static func text(_ high: UInt64, _ low: UInt64) -> String {
        return String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let half = digit < 16 ? high : low
                let value = UInt8(truncatingIfNeeded: half >> UInt64(60 - digit % 16 * 4)) & 0xf
                text[place] = value < 10 ? 0x30 + value : 0x57 + value
                place += 1
            }
            return place
        }
    }
}
