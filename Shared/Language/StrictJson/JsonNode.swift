internal import Octets

/// A value in a JSON text, with the place where it stands.
public struct JsonNode: Sendable {
    public enum Content: Sendable {
        case null
        case bool(Bool)
        /// As it is written.
        case number(String)
        case string(String)
        case array([JsonNode])
        /// In the order of the text; a name may occur twice.
        case object([JsonMember])
    }

    public let content: Content
    /// Bytes before the value.
    public let offset: Int

    /// The kind of value, for messages: `an array`, `null`.
    public var kind: String {
        switch content {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A name and its value in an object.
public struct JsonMember: Sendable {
    public let name: String
    /// Bytes before the name.
    public let offset: Int
    public let value: JsonNode
}

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
