internal import Octets

/// Writes a JSON text (RFC 8259) from its beginning to its end, without white space; commas come by themselves.
///
/// In strings a quotation mark, a backslash and the characters below U+0020 are escaped, those as `\u` with four lower-case digits. Everything else is written as
/// UTF-8 has it, also `/`, `<` and U+2028.
public struct JsonWriter: Sendable {
    /// Further escapes. Some texts are hashed, signed or compared, so each kind of text keeps the form that it always had.
    public struct Escapes: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// U+000A as `\n`.
        public static let lineFeed = Escapes(rawValue: 1)
        /// U+0009 as `\t` and U+000D as `\r`.
        public static let tabAndReturn = Escapes(rawValue: 2)
        /// U+007F as `\u007f`: JSON would take it as it is, a terminal obeys it.
        public static let delete = Escapes(rawValue: 4)
    }

    /// What was written so far.
    public private(set) var bytes: [UInt8] = []
    private let escapes: Escapes
    /// True when a value stands before the next one.
    private var needsComma = false

    /// - Parameter capacity: Octets that the text will have, as a guess.
    public init(_ escapes: Escapes = [], reserving capacity: Int = 512) {
        self.escapes = escapes
        bytes.reserveCapacity(capacity)
    }

    /// A text that is one object.
    public static func object(_ escapes: Escapes = [], _ members: (inout JsonWriter) -> Void) -> JsonWriter {
        var json = JsonWriter(escapes)
        json.beginObject()
        members(&json)
        json.endObject()
        return json
    }

    /// A string with its quotation marks.
    public static func quoted(_ text: String) -> String {
        var json = JsonWriter(reserving: text.utf8.count + 2)
        json.string(text)
        return json.text
    }

    /// What was written so far.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public mutating func beginObject() { open("{") }
    public mutating func endObject() { close("}") }
    public mutating func beginArray() { open("[") }
    public mutating func endArray() { close("]") }

    /// The name of a member; its value must follow.
    public mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The name of a member; its value must follow.
    /// - Parameter name: Without characters that are escaped.
    public mutating func name(plain name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func string(_ text: String) {
        separate()
        quote(text)
    }

    public mutating func number(_ number: Int64) {
        separate()
        bytes.append(contentsOf: String(number).utf8)
    }

    public mutating func bool(_ value: Bool) { written(value ? "true" : "false") }

    public mutating func null() { written("null") }

    /// Numbers as a string of 16 lower-case hexadecimal digits for each.
    public mutating func hexadecimal(_ numbers: [UInt64]) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        for number in numbers {
            for shift in stride(from: UInt64(60), through: 0, by: -4) { bytes.append(Self.digit(UInt8(truncatingIfNeeded: number >> shift) & 0xf)) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// - Parameter json: A value that is JSON already.
    public mutating func written(_ json: String) {
        separate()
        bytes.append(contentsOf: json.utf8)
    }

    /// - Parameter json: A value, or at least one member with its commas, that is JSON already.
    public mutating func written(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// Ends the line after a text, where each line holds one.
    public mutating func endLine() { bytes.append(0x0a) }

    /// - Parameter name: Without characters that are escaped.
    public mutating func member(_ name: StaticString, _ value: String) {
        self.name(plain: name)
        string(value)
    }

    /// - Parameter name: Without characters that are escaped.
    public mutating func member(_ name: StaticString, _ value: Int64) {
        self.name(plain: name)
        number(value)
    }

    /// - Parameter name: Without characters that are escaped.
    public mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(plain: name)
        bool(value)
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        let escapesDelete = escapes.contains(.delete)
        bytes.append(UInt8(ascii: "\""))
        let isPlain = text.utf8.withContiguousStorageIfAvailable { text in
            guard
                text.allSatisfy({
                    $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && !($0 == 0x7f && escapesDelete)
                })
            else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isPlain != true { escape(text) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): escape(byte)
            case 0x0a where escapes.contains(.lineFeed): escape(UInt8(ascii: "n"))
            case 0x0d where escapes.contains(.tabAndReturn): escape(UInt8(ascii: "r"))
            case 0x09 where escapes.contains(.tabAndReturn): escape(UInt8(ascii: "t"))
            case 0x7f where !escapes.contains(.delete): bytes.append(byte)
            case 0..<0x20, 0x7f:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Self.digit(byte >> 4))
                bytes.append(Self.digit(byte & 0xf))
            default: bytes.append(byte)
            }
        }
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value }
}
