/// Reads one JSON object in one pass, without a tree of what lies deeper.
struct JSONMemberReader {
    struct NotJSON: Error {}

    typealias Member = (name: String, value: JSONMembers.Value)

    /// Nesting beyond this is refused, so that a hostile text cannot exhaust the stack.
    private static let deepest = 16
    /// Members of one object: each is compared with those before it.
    private static let mostMembers = 128

    private let text: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ text: [UInt8]) { self.text = text }

    mutating func document() throws(NotJSON) -> [Member] {
        skipSpace()
        let members = try object()
        skipSpace()
        guard index == text.count else { throw NotJSON() }
        return members
    }

    private mutating func object() throws(NotJSON) -> [Member] {
        try enter("{")
        var members: [Member] = []
        members.reserveCapacity(16)
        skipSpace()
        if !take("}") {
            repeat {
                skipSpace()
                let name = try string()
                guard members.count < Self.mostMembers, !members.contains(where: { $0.name == name }) else { throw NotJSON() }
                skipSpace()
                guard take(":") else { throw NotJSON() }
                members.append((name, try value()))
                skipSpace()
            } while take(",")
            guard take("}") else { throw NotJSON() }
        }
        depth -= 1
        return members
    }

    private mutating func array() throws(NotJSON) {
        try enter("[")
        skipSpace()
        if !take("]") {
            repeat {
                _ = try value()
                skipSpace()
            } while take(",")
            guard take("]") else { throw NotJSON() }
        }
        depth -= 1
    }

    private mutating func value() throws(NotJSON) -> JSONMembers.Value {
        skipSpace()
        let start = index
        switch peek {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"):
            _ = try object()
            return .object(Array(text[start..<index]))
        case UInt8(ascii: "["):
            try array()
            return .array
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func enter(_ bracket: Unicode.Scalar) throws(NotJSON) {
        depth += 1
        guard depth <= Self.deepest, take(bracket) else { throw NotJSON() }
    }

    private mutating func word(_ word: StaticString, _ value: JSONMembers.Value) throws(NotJSON) -> JSONMembers.Value {
        guard word.withUTF8Buffer({ text[index...].starts(with: $0) }) else { throw NotJSON() }
        index += word.utf8CodeUnitCount
        return value
    }

    private mutating func number() throws(NotJSON) -> Int64? {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        var isWhole = true
        if take(".") {
            try digits()
            isWhole = false
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
            isWhole = false
        }
        return isWhole ? Int64(String(decoding: text[start..<index], as: UTF8.self)) : nil
    }

    private mutating func digits() throws(NotJSON) {
        let start = index
        while let byte = peek, (0x30...0x39).contains(byte) { index += 1 }
        guard index > start else { throw NotJSON() }
    }

    private mutating func string() throws(NotJSON) -> String {
        guard take("\"") else { throw NotJSON() }
        let start = index
        var isPlain = true
        while let byte = peek {
            if byte == UInt8(ascii: "\"") {
                let content = text[start..<index]
                index += 1
                if isPlain { return String(decoding: content, as: UTF8.self) }
                guard let string = String(validating: content, as: UTF8.self) else { throw NotJSON() }
                return string
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else { throw NotJSON() }
            if byte >= 0x80 { isPlain = false }
            index += 1
        }
        throw NotJSON()
    }

    /// The rest of a string from its first escape on.
    private mutating func escapedString(from start: Int) throws(NotJSON) -> String {
        var bytes = Array(text[start..<index])
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw NotJSON() }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape(into: &bytes) } else { bytes.append(byte) }
        }
        guard take("\""), let string = String(validating: bytes, as: UTF8.self) else { throw NotJSON() }
        return string
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(NotJSON) {
        guard let byte = peek else { throw NotJSON() }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0c)
        case UInt8(ascii: "n"): bytes.append(0x0a)
        case UInt8(ascii: "r"): bytes.append(0x0d)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes.append(contentsOf: String(Character(try scalar())).utf8)
        default: throw NotJSON()
        }
    }

    /// One `\uXXXX`, or two that are a surrogate pair.
    private mutating func scalar() throws(NotJSON) -> Unicode.Scalar {
        var code = try hexadecimal()
        if (0xd800...0xdbff).contains(code), take("\\"), take("u") {
            let low = try hexadecimal()
            guard (0xdc00...0xdfff).contains(low) else { throw NotJSON() }
            code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw NotJSON() }
        return scalar
    }

    private mutating func hexadecimal() throws(NotJSON) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw NotJSON() }
            code = code << 4 | UInt32(digit)
            index += 1
        }
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
}
