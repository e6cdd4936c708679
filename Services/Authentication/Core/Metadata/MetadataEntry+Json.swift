internal import Contracts
internal import StrictJson

extension MetadataEntry.Value {
    /// A value as upstream tells it.
    /// - Returns: `nil` for what apps have no form for: null, and lists or objects within others.
    init?(json: String) {
        guard let node = try? JsonDocument(parsing: Array(json.utf8)).root else { return nil }
        switch node.content {
        case .null: return nil
        case .bool(let flag): self = .flag(flag)
        case .number(let text): self = Int64(text).map { .number($0) } ?? .text(text)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .list(TextList(values: elements.compactMap(\.scalarText)))
        case .object(let members):
            self = .map(TextMap(entries: members.compactMap { member in member.value.scalarText.map { TextMapEntry(key: member.name, value: $0) } }))
        }
    }
}

extension JsonNode {
    /// A text, a number or a boolean as text.
    fileprivate var scalarText: String? {
        switch content {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        default: nil
        }
    }
}
