/// Percent encoding (RFC 3986 §2.1), and that of forms.
public enum PercentEncoding {
    /// - Parameter plusIsSpace: True in queries and forms.
    /// - Returns: `nil` for a broken escape, for bytes that are not UTF-8, and for text with a NUL.
    @inlinable
    public static func decode(_ encoded: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var index = encoded.startIndex
        while index < encoded.endIndex {
            var byte = encoded[index]
            encoded.formIndex(after: &index)
            if byte == UInt8(ascii: "+"), plusIsSpace { byte = UInt8(ascii: " ") }
            if byte == UInt8(ascii: "%") {
                guard let escaped = escape(in: encoded, at: &index) else { return nil }
                byte = escaped
            }
            guard byte != 0 else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Everything but the unreserved characters (RFC 3986 §2.3) is escaped.
    public static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digit(byte >> 4))
                bytes.append(digit(byte & 0xf))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value of a hexadecimal digit in either letter case; `nil` for another character.
    @inlinable
    public static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }

    @inlinable
    static func escape<Bytes: Collection<UInt8>>(in encoded: Bytes, at index: inout Bytes.Index) -> UInt8? {
        guard index < encoded.endIndex, let high = value(ofDigit: encoded[index]) else { return nil }
        encoded.formIndex(after: &index)
        guard index < encoded.endIndex, let low = value(ofDigit: encoded[index]) else { return nil }
        encoded.formIndex(after: &index)
        return high << 4 | low
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
    }
}
