internal import Octets

extension JsonNode {
    /// The value as JSON, without spaces; the members of an object in their order.
    public var text: String {
        switch content {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .number(let text): text
        case .string(let string): Self.quoted(string)
        case .array(let nodes): "[\(nodes.map(\.text).joined(separator: ","))]"
        case .object(let members): "{\(members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ","))}"
        }
    }

    /// A string as JSON writes it, in double quotes.
    public static func quoted(_ string: String) -> String {
        var text = "\""
        for character in string.unicodeScalars {
            switch character {
            case "\"", "\\": text += "\\\(character)"
            case _ where character.value < 0x20:
                let digits = String(character.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(character)
            }
        }
        return text + "\""
    }
}

extension JsonValue {
    /// The value as JSON.
    public var text: String { node.text }
}
