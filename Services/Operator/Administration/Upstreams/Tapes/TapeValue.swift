internal import StrictJson

/// A JSON value that can be made and changed.
enum TapeValue: Sendable {
    case null
    case bool(Bool)
    /// As it is written.
    case number(String)
    case string(String)
    case array([TapeValue])
    case object([Member])

    struct Member: Sendable {
        let name: String
        let value: TapeValue
    }

    init(_ node: JsonNode) {
        self =
            switch node.content {
            case .null: .null
            case .bool(let bool): .bool(bool)
            case .number(let text): .number(text)
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map { TapeValue($0) })
            case .object(let members): .object(members.map { Member(name: $0.name, value: TapeValue($0.value)) })
            }
    }

    static func object(_ members: [(String, TapeValue)]) -> TapeValue { .object(members.map { Member(name: $0.0, value: $0.1) }) }

    /// As JSON, in one line.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .number(let text): text
        case .string(let text): JsonNode.quoted(text)
        case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
        case .object(let members): "{\(members.map { "\(JsonNode.quoted($0.name)):\($0.value.text)" }.joined(separator: ","))}"
        }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var members: [Member]? { if case .object(let members) = self { members } else { nil } }
    var integer: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }

    subscript(name: String) -> TapeValue? { members?.first { $0.name == name }?.value }

    /// With the members of all objects by their names.
    var sorted: TapeValue {
        switch self {
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.sorted) }.sorted { OctetText($0.name) < OctetText($1.name) })
        default: self
        }
    }
}
