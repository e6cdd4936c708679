internal import Octets

/// Reads one JSON text, RFC 8259 to the letter.
struct JsonParser {
    struct Rejection: Error {
        let offset: Int
        let message: String
    }

    /// Nesting beyond this is refused, so that a hostile text cannot exhaust the stack.
    private static let deepest = 64

    private let text: [UInt8]
    private let dropsFlawedTexts: Bool
    /// True when the string that was read last holds what none may hold, where that is let pass.
    private var lastIsFlawed = false
    private var index = 0
    private var depth = 0

    init(_ text: [UInt8], dropsFlawedTexts: Bool = false) {
        self.text = text
        self.dropsFlawedTexts = dropsFlawedTexts
    }

    mutating func document() throws(Rejection) -> JsonNode {
        if text.starts(with: [0xef, 0xbb, 0xbf]) { throw failure("a byte order mark is not allowed") }
        let node = try value()
        skipSpace()
        if index < text.count { throw failure("text after the end of the value") }
        return node
    }

    private mutating func value() throws(Rejection) -> JsonNode {
        skipSpace()
        let start = index
        guard let byte = peek else { throw failure("the text ends where a value should be") }
        let content: JsonNode.Content
        switch byte {
        case UInt8(ascii: "{"): content = try object()
        case UInt8(ascii: "["): content = try array()
        case UInt8(ascii: "\""):
            let string = try string()
            content = lastIsFlawed ? .null : .string(string)
        case UInt8(ascii: "t"): content = try word("true", .bool(true))
        case UInt8(ascii: "f"): content = try word("false", .bool(false))
        case UInt8(ascii: "n"): content = try word("null", .null)
        default: content = .number(try number())
        }
        return JsonNode(content: content, offset: start)
    }

    private mutating func object() throws(Rejection) -> JsonNode.Content {
        try enter()
        var members: [JsonMember] = []
        skipSpace()
        if !take("}") {
            repeat {
                skipSpace()
                let start = index
                guard peek == UInt8(ascii: "\"") else { throw failure("a name in double quotes is expected") }
                let name = try string()
                let isNameFlawed = lastIsFlawed
                skipSpace()
                guard take(":") else { throw failure("':' is expected after the name '\(name)'") }
                skipSpace()
                let isText = peek == UInt8(ascii: "\"")
                let value = try value()
                if !isNameFlawed, !(isText && lastIsFlawed) { members.append(JsonMember(name: name, offset: start, value: value)) }
                skipSpace()
            } while take(",")
            guard take("}") else { throw failure("',' or '}' is expected") }
        }
        depth -= 1
        return .object(members)
    }

    private mutating func array() throws(Rejection) -> JsonNode.Content {
        try enter()
        var elements: [JsonNode] = []
        skipSpace()
        if !take("]") {
            repeat {
                elements.append(try value())
                skipSpace()
            } while take(",")
            guard take("]") else { throw failure("',' or ']' is expected") }
        }
        depth -= 1
        return .array(elements)
    }

    private mutating func enter() throws(Rejection) {
        depth += 1
        if depth > Self.deepest { throw failure("the values are nested more than \(Self.deepest) deep") }
        index += 1
    }

    private mutating func word(_ word: StaticString, _ content: JsonNode.Content) throws(Rejection) -> JsonNode.Content {
        let matches = word.withUTF8Buffer { text[index...].starts(with: $0) }
        guard matches else { throw failure("a value is expected: an object, array, string, number, true, false or null") }
        index += word.utf8CodeUnitCount
        return content
    }

    private mutating func number() throws(Rejection) -> String {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: text[start..<index], as: UTF8.self)
    }

    private mutating func digits() throws(Rejection) {
        let start = index
        while let byte = peek, isDigit(byte) { index += 1 }
        if index == start { throw failure("a value is expected: an object, array, string, number, true, false or null") }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private mutating func string() throws(Rejection) -> String {
        lastIsFlawed = false
        index += 1
        let start = index
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            try refuseControl(byte)
            index += 1
        }
        let plain = text[start..<index]
        if take("\"") { return try checked(plain, start) }
        var bytes = Array(plain)
        while let byte = peek, byte != UInt8(ascii: "\"") {
            try refuseControl(byte)
            index += 1
            if byte == UInt8(ascii: "\\") { try escape(into: &bytes) } else { bytes.append(byte) }
        }
        guard take("\"") else { throw failure("a string has no end") }
        return try checked(bytes, start)
    }

    private mutating func refuseControl(_ byte: UInt8) throws(Rejection) {
        guard byte < 0x20 else { return }
        guard dropsFlawedTexts else { throw failure("a control character in a string must be written as \\u00XX") }
        lastIsFlawed = true
    }

    private func checked(_ bytes: some Collection<UInt8>, _ start: Int) throws(Rejection) -> String {
        guard let string = String(validating: bytes, as: UTF8.self) else { throw Rejection(offset: start, message: "a string is not UTF-8") }
        return string
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(Rejection) {
        guard let byte = peek else { throw failure("a string has no end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0c)
        case UInt8(ascii: "n"): bytes.append(0x0a)
        case UInt8(ascii: "r"): bytes.append(0x0d)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes.append(contentsOf: String(Character(try scalar())).utf8)
        default: throw Rejection(offset: index - 2, message: "an unknown escape in a string")
        }
    }

    /// One `\uXXXX`, or two that are a surrogate pair.
    private mutating func scalar() throws(Rejection) -> Unicode.Scalar {
        let start = index
        var code = try hexadecimal()
        if (0xd800...0xdbff).contains(code), text[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
            index += 2
            let low = try hexadecimal()
            code = (0xdc00...0xdfff).contains(low) ? 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00) : code
        }
        if let scalar = Unicode.Scalar(code) { return scalar }
        guard dropsFlawedTexts else { throw Rejection(offset: start, message: "half of a surrogate pair") }
        lastIsFlawed = true
        return "\u{fffd}"
    }

    private mutating func hexadecimal() throws(Rejection) -> UInt32 {
        let digits = text[index...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are expected after \\u") }
        index += 4
        return code
    }

    private var peek: UInt8? { index < text.count ? text[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private func failure(_ message: String) -> Rejection { Rejection(offset: index, message: message) }
}

/// Where a value stands in a document, for people: `mvpds[2].saml.ssoUrl`.
public struct JsonPath: Sendable, Hashable, CustomStringConvertible {
    public private(set) var description: String

    /// The document itself.
    public static let root = JsonPath(description: "")

    private init(description: String) { self.description = description }

    public func appending(key: String) -> JsonPath {
        JsonPath(description: description.isEmpty ? key : "\(description).\(key)")
    }

    public func appending(index: Int) -> JsonPath { JsonPath(description: "\(description)[\(index)]") }

    init(_ codingPath: [any CodingKey]) {
        self = codingPath.reduce(.root) { path, key in
            key.intValue.map(path.appending(index:)) ?? path.appending(key: key.stringValue)
        }
    }
}

/// Finds positions in a text; those that are asked for in the order of the text cost one pass together.
struct JsonPositionCounter {
    private let text: [UInt8]
    private var reached = 0
    private var line = 1
    private var column = 1

    init(_ text: [UInt8]) { self.text = text }

    mutating func position(of offset: Int) -> JsonPosition {
        if offset < reached { (reached, line, column) = (0, 1, 1) }
        for byte in text[reached..<max(reached, min(offset, text.count))] {
            if byte == 0x0a {
                line += 1
                column = 1
            } else if byte & 0xc0 != 0x80 {
                column += 1
            }
        }
        reached = max(reached, min(offset, text.count))
        return JsonPosition(line: line, column: column)
    }
}
