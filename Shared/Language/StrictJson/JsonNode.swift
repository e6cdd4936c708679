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
        var json = JsonWriter()
        write(to: &json)
        return json.text
    }

    private func write(to json: inout JsonWriter) {
        switch content {
        case .null: json.null()
        case .bool(let bool): json.bool(bool)
        case .number(let text): json.written(text)
        case .string(let string): json.string(string)
        case .array(let nodes):
            json.beginArray()
            for node in nodes { node.write(to: &json) }
            json.endArray()
        case .object(let members):
            json.beginObject()
            for member in members {
                json.name(member.name)
                member.value.write(to: &json)
            }
            json.endObject()
        }
    }
}

extension JsonValue {
    /// The value as JSON.
    public var text: String { node.text }
}
