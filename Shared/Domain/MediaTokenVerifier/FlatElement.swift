internal import Octets

/// One XML element with children that hold only text: all that a media token needs. Any other XML is refused.
struct FlatElement {
    let fields: [String: String]

    /// - Parameters:
    ///   - text: The element and nothing beside it.
    ///   - roots: Names that the element may have.
    init?(_ text: String, roots: [String]) {
        var scanner = Scanner(text[...])
        guard let root = scanner.openingTag(), roots.contains(root) else { return nil }
        var fields: [String: String] = [:]
        while true {
            scanner.skipWhiteSpace()
            if scanner.closingTag(root) { break }
            guard let name = scanner.openingTag(), let content = scanner.content(of: name) else { return nil }
            guard fields.updateValue(content, forKey: name) == nil else { return nil }
        }
        guard scanner.isAtEnd else { return nil }
        self.fields = fields
    }
}

private struct Scanner {
    private var rest: Substring.UnicodeScalarView

    init(_ text: Substring) { rest = text.unicodeScalars }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipWhiteSpace() { rest = rest.drop { " \t\r\n".unicodeScalars.contains($0) } }

    /// A start tag without attributes.
    mutating func openingTag() -> String? {
        guard rest.first == "<" else { return nil }
        let name = rest.dropFirst().prefix { $0.isASCII && ($0.properties.isAlphabetic) }
        let after = rest[name.endIndex...]
        guard !name.isEmpty, after.first == ">" else { return nil }
        rest = after.dropFirst()
        return String(String.UnicodeScalarView(name))
    }

    mutating func closingTag(_ name: String) -> Bool {
        let tag = "</\(name)>".unicodeScalars
        guard rest.starts(with: tag) else { return false }
        rest = rest.dropFirst(tag.count)
        return true
    }

    /// Text up to the end tag, its references resolved.
    mutating func content(of name: String) -> String? {
        let raw = rest.prefix { $0 != "<" }
        rest = rest[raw.endIndex...]
        guard closingTag(name) else { return nil }
        return XMLText.unescape(raw)
    }
}
