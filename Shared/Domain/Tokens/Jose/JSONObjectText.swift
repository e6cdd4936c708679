/// A JSON object, written member by member (RFC 8259).
struct JSONObjectText {
    private var text: [UInt8]

    init() {
        text = []
        text.reserveCapacity(512)
        text.append(UInt8(ascii: "{"))
    }

    /// - Parameter name: Without characters that JSON escapes.
    mutating func add(_ name: StaticString, _ value: String) {
        begin(name)
        quote(value)
    }

    /// - Parameter name: Without characters that JSON escapes.
    mutating func add(_ name: StaticString, _ value: Int64) {
        begin(name)
        text.append(contentsOf: String(value).utf8)
    }

    consuming func finished() -> [UInt8] {
        text.append(UInt8(ascii: "}"))
        return text
    }

    private mutating func begin(_ name: StaticString) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { text.append(contentsOf: $0) }
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: ":"))
    }

    private mutating func quote(_ value: String) {
        text.append(UInt8(ascii: "\""))
        if value.utf8.contains(where: Self.isEscaped) { escape(value) } else { text.append(contentsOf: value.utf8) }
        text.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ value: String) {
        for byte in value.utf8 {
            if byte < 0x20 {
                let digits = String(byte, radix: 16)
                text.append(contentsOf: "\\u00\(byte < 0x10 ? "0" : "")\(digits)".utf8)
            } else {
                if Self.isEscaped(byte) { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool { byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }
}
