internal import Octets

/// Base 64 (RFC 4648 §4 and §5). Decoding is strict: no white space, no foreign character, no stray bits at the end.
public struct Base64: Sendable {
    /// With `+` and `/` and padding.
    public static let standard = Base64(last: "+/", padded: true)
    /// With `-` and `_`, without padding, as JOSE wants it.
    public static let url = Base64(last: "-_", padded: false)

    private let characters: [UInt8]
    /// Value of each byte, 255 for a foreign one.
    private let values: [UInt8]
    private let isPadded: Bool

    private init(last: String, padded: Bool) {
        characters = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
        isPadded = padded
    }

    /// The bytes as text, with padding only in the standard alphabet.
    public func encode(_ bytes: [UInt8]) -> String {
        let (groups, rest) = bytes.count.quotientAndRemainder(dividingBy: 3)
        let count = groups * 4 + (rest == 0 ? 0 : isPadded ? 4 : rest + 1)
        guard count > 0 else { return "" }
        return String(unsafeUninitializedCapacity: count) { text in
            bytes.withUnsafeBufferPointer { bytes in
                characters.withUnsafeBufferPointer { characters in
                    for group in 0..<groups { Self.encode(bytes, from: group * 3, characters, into: text, at: group * 4) }
                    if rest > 0 { encodeRest(bytes[(groups * 3)...], characters, into: text, at: groups * 4) }
                }
            }
            return count
        }
    }

    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ characters: UnsafeBufferPointer<UInt8>, into text: UnsafeMutableBufferPointer<UInt8>,
        at place: Int
    ) {
        let group = UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
        text[place] = characters[Int(group >> 18)]
        text[place + 1] = characters[Int(group >> 12) & 63]
        text[place + 2] = characters[Int(group >> 6) & 63]
        text[place + 3] = characters[Int(group) & 63]
    }

    /// One or two bytes.
    private func encodeRest(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ characters: UnsafeBufferPointer<UInt8>, into text: UnsafeMutableBufferPointer<UInt8>,
        at place: Int
    ) {
        var group: UInt32 = 0
        for (index, byte) in bytes.enumerated() { group |= UInt32(byte) << UInt32(16 - 8 * index) }
        for position in 0...bytes.count { text[place + position] = characters[Int(group >> UInt32(18 - 6 * position)) & 63] }
        guard isPadded else { return }
        for position in (bytes.count + 1)..<4 { text[place + position] = UInt8(ascii: "=") }
    }

    /// - Returns: `nil` when the text is not exactly what `encode` writes for some bytes.
    public func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)) }

    /// The content transfer encoding of MIME (RFC 2045 §6.8), which is broken into lines: blanks, tabs, CR and LF are skipped wherever they stand. All else is
    /// as strict as `decode`.
    /// - Parameter text: Its length is the caller's to bound, before anything is skipped.
    /// - Returns: `nil` when what is left is not exactly what `encode` writes for some bytes.
    public func decodeLines(_ text: String) -> [UInt8]? {
        let octets = Array(text.utf8)
        // Nearly always without any: then nothing is copied again.
        return decode(octets.contains(where: Self.isSpace) ? octets.filter { !Self.isSpace($0) } : octets)
    }

    private static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x0D || octet == 0x0A || octet == 0x09 }

    /// - Returns: `nil` when the text is not exactly what `encode` writes for some bytes.
    public func decode(_ text: [UInt8]) -> [UInt8]? {
        guard let digits = withoutPadding(text), digits.count % 4 != 1 else { return nil }
        var isGood = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digits.count * 3 / 4) { bytes, count in
            digits.withUnsafeBufferPointer { digits in
                values.withUnsafeBufferPointer { isGood = Self.decode(digits, $0, into: bytes) }
            }
            count = digits.count * 3 / 4
        }
        return isGood ? bytes : nil
    }

    /// - Parameter bytes: Three for four digits, one or two for a rest of two or three.
    /// - Returns: False when a digit is foreign, or bits are left over.
    private static func decode(
        _ digits: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        let (groups, rest) = digits.count.quotientAndRemainder(dividingBy: 4)
        // A foreign digit has the value 255: its two highest bits show in the end.
        var seen: UInt8 = 0
        func value(_ place: Int) -> UInt32 {
            let value = values[Int(digits[place])]
            seen |= value
            return UInt32(value)
        }
        for group in 0..<groups {
            let place = group * 4
            let bits = value(place) << 18 | value(place + 1) << 12 | value(place + 2) << 6 | value(place + 3)
            bytes[group * 3] = UInt8(truncatingIfNeeded: bits >> 16)
            bytes[group * 3 + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            bytes[group * 3 + 2] = UInt8(truncatingIfNeeded: bits)
        }
        var left: UInt32 = 0
        if rest > 0 {
            let place = groups * 4
            var bits = value(place) << 18 | value(place + 1) << 12
            if rest == 3 { bits |= value(place + 2) << 6 }
            bytes[groups * 3] = UInt8(truncatingIfNeeded: bits >> 16)
            if rest == 3 { bytes[groups * 3 + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
            left = rest == 3 ? bits & 0xff : bits & 0xffff
        }
        return seen < 64 && left == 0
    }

    private func withoutPadding(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        guard isPadded else { return text[...] }
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.dropLast(padding)
    }
}
