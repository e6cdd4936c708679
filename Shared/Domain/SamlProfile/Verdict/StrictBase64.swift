/// Base64 as RFC 4648 §4 defines it: no white space, no other alphabet, full padding, no stray bits.
enum StrictBase64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let invalid: UInt8 = 0xFF

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// The octets, or nil when the text is anything but strict base64.
    static func decode(_ text: String.UTF8View) -> [UInt8]? {
        if let decoded = text.withContiguousStorageIfAvailable(decode) { return decoded }
        return Array(text).withUnsafeBufferPointer(decode)
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        guard let last = text.last else { return [] }
        let padded = last != padding ? 0 : text[text.count - 2] != padding ? 1 : 2
        let size = text.count / 4 * 3 - padded
        let groups = text.count / 4
        var seen: UInt8 = 0
        var strayBits: UInt32 = 0
        let octets = [UInt8](unsafeUninitializedCapacity: groups * 3) { output, count in
            values.withUnsafeBufferPointer { values in
                func write(_ group: Int, _ characters: (UInt8, UInt8, UInt8, UInt8)) -> UInt32 {
                    let (first, second) = (values[Int(characters.0)], values[Int(characters.1)])
                    let (third, fourth) = (values[Int(characters.2)], values[Int(characters.3)])
                    seen |= first | second | third | fourth
                    let bits = UInt32(first) << 18 | UInt32(second) << 12 | UInt32(third) << 6 | UInt32(fourth)
                    output[group * 3] = UInt8(truncatingIfNeeded: bits >> 16)
                    output[group * 3 + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                    output[group * 3 + 2] = UInt8(truncatingIfNeeded: bits)
                    return bits
                }
                for group in 0..<groups - 1 {
                    let at = group * 4
                    _ = write(group, (text[at], text[at + 1], text[at + 2], text[at + 3]))
                }
                // Padding counts as zeros.
                let (at, zero) = (text.count - 4, alphabet[0])
                let end = (padded > 1 ? zero : text[at + 2], padded > 0 ? zero : text[at + 3])
                strayBits = write(groups - 1, (text[at], text[at + 1], end.0, end.1))
            }
            count = size
        }
        strayBits &= padded == 0 ? 0 : padded == 1 ? 0xFF : 0xFFFF
        return seen & 0xC0 == 0 && strayBits == 0 ? octets : nil
    }

    static func encode(_ octets: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count + 2) / 3 * 4)
        for start in stride(from: 0, to: octets.count, by: 3) {
            let group = octets[start..<min(start + 3, octets.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for position in 0..<4 {
                let digit = Int(bits >> UInt32(18 - 6 * position)) & 0x3F
                text.append(position <= group.count ? alphabet[digit] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
