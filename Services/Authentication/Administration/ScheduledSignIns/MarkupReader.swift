/// Goes through the tags of a page, forwards alone: each octet is looked at a fixed number of times.
struct MarkupReader: Sendable {
    struct Tag: Sendable {
        /// Lower case; of an end with the slash before it.
        let name: String
        fileprivate var attributes: [(name: String, value: String)] = []

        /// The first attribute of that name, lower case.
        subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    }

    private static let mostAttributes = 32

    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// - Returns: `nil` at the end.
    mutating func nextTag() -> Tag? {
        while let open = bytes[at...].firstIndex(of: UInt8(ascii: "<")) {
            at = open + 1
            if bytes[at...].starts(with: "!--".utf8) {
                skipComment()
            } else if at < bytes.count, Self.isLetter(bytes[at]) || bytes[at] == UInt8(ascii: "/") {
                return tag()
            }
        }
        at = bytes.count
        return nil
    }

    /// The text from here to the next tag of that end, without tags.
    /// - Parameters:
    ///   - name: `nil`: to the next tag, whichever it is.
    ///   - most: Characters.
    func words(until name: String? = nil, most: Int) -> String {
        var reader = self
        var text = ""
        // Four times as much, for what is white space.
        while text.unicodeScalars.count < most * 4, reader.at < bytes.count {
            let end = bytes[reader.at...].prefix(most * 4).firstIndex(of: UInt8(ascii: "<")) ?? min(bytes.count, reader.at + most * 4)
            text += String(decoding: bytes[reader.at..<end], as: UTF8.self) + " "
            reader.at = end
            guard let name, end < bytes.count, bytes[end] == UInt8(ascii: "<"), let tag = reader.nextTag(), tag.name != "/" + name else { break }
        }
        let words = Self.decoded(text).split { $0.isWhitespace || $0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
        return String(words.joined(separator: " ").prefix(most))
    }

    /// Behind the end of an element whose content is no markup.
    mutating func skip(to name: String) {
        while let tag = nextTag() { if tag.name == "/" + name { return } }
    }

    private mutating func skipComment() {
        while let end = bytes[at...].firstIndex(of: UInt8(ascii: ">")) {
            at = end + 1
            if end >= 2, bytes[end - 1] == UInt8(ascii: "-"), bytes[end - 2] == UInt8(ascii: "-") { return }
        }
        at = bytes.count
    }

    private mutating func tag() -> Tag {
        let isEnd = bytes[at] == UInt8(ascii: "/")
        if isEnd { at += 1 }
        let start = at
        while at < bytes.count, !Self.isSpace(bytes[at]), bytes[at] != UInt8(ascii: ">"), bytes[at] != UInt8(ascii: "/") { at += 1 }
        var tag = Tag(name: (isEnd ? "/" : "") + String(decoding: bytes[start..<at].prefix(32), as: UTF8.self).lowercased())
        while at < bytes.count, bytes[at] != UInt8(ascii: ">") {
            guard !Self.isSpace(bytes[at]), bytes[at] != UInt8(ascii: "/") else {
                at += 1
                continue
            }
            let attribute = attribute()
            if tag.attributes.count < Self.mostAttributes { tag.attributes.append(attribute) }
        }
        at = min(at + 1, bytes.count)
        return tag
    }

    private mutating func attribute() -> (name: String, value: String) {
        let start = at
        at += 1
        while at < bytes.count, !Self.isSpace(bytes[at]), bytes[at] != UInt8(ascii: "="), bytes[at] != UInt8(ascii: ">"),
            bytes[at] != UInt8(ascii: "/")
        {
            at += 1
        }
        let name = String(decoding: bytes[start..<at].prefix(64), as: UTF8.self).lowercased()
        skipSpace()
        guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else { return (name, "") }
        at += 1
        skipSpace()
        guard at < bytes.count else { return (name, "") }
        let quote = bytes[at]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            let begin = at
            while at < bytes.count, !Self.isSpace(bytes[at]), bytes[at] != UInt8(ascii: ">") { at += 1 }
            return (name, Self.decoded(String(decoding: bytes[begin..<at], as: UTF8.self)))
        }
        let begin = at + 1
        let end = bytes[begin...].firstIndex(of: quote) ?? bytes.count
        at = min(end + 1, bytes.count)
        return (name, Self.decoded(String(decoding: bytes[begin..<end], as: UTF8.self)))
    }

    private mutating func skipSpace() { while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 } }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte & 0xdf) }

    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " "]

    /// Character references replaced, of names those that markup itself needs.
    private static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var pieces = text.split(separator: "&", omittingEmptySubsequences: false)[...]
        var result = String(pieces.removeFirst())
        for piece in pieces {
            guard let end = piece.prefix(12).firstIndex(of: ";"), let character = character(piece[..<end]) else {
                result += "&" + piece
                continue
            }
            result += character + piece[piece.index(after: end)...]
        }
        return result
    }

    private static func character(_ name: Substring) -> String? {
        guard name.first == "#" else { return entities[String(name)] }
        let digits = name.dropFirst()
        let number = digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}
