internal import StrictJson

/// A JSON object that the identity provider sent. One with a member twice is refused: two readers could take it for two things.
struct ProviderClaims: Sendable {
    private let members: [OctetText: JsonNode]

    /// - Returns: `nil` unless the text is one JSON object whose members all differ.
    init?(json: [UInt8]) {
        guard let document = try? JsonDocument(parsing: json), let members = Self.members(document.root) else { return nil }
        self.members = members
    }

    /// A member that is a text.
    func text(_ name: String) -> String? {
        if case .string(let text) = members[name]?.content { text } else { nil }
    }

    func isTrue(_ name: String) -> Bool {
        switch members[name]?.content {
        case .bool(let isTrue): isTrue
        // As some providers write it.
        case .string(let text): text == "true"
        default: false
        }
    }

    /// The texts of a claim: of a text that one, of a list those in it.
    /// - Parameter path: A name as it is, or names with dots between that lead into objects.
    /// - Returns: `nil` when there is no such claim.
    func values(_ path: String) -> [String]? {
        var node = members[path]
        if node == nil {
            var inner: [OctetText: JsonNode]? = members
            for name in path.split(separator: ".", omittingEmptySubsequences: false) {
                node = inner?[String(name)]
                inner = node.flatMap(Self.members)
            }
        }
        guard let node else { return nil }
        switch node.content {
        case .string(let text): return [text]
        case .array(let list): return list.compactMap { if case .string(let text) = $0.content { text } else { nil } }
        default: return []
        }
    }

    private static func members(_ node: JsonNode) -> [OctetText: JsonNode]? {
        guard case .object(let list) = node.content else { return nil }
        var members: [OctetText: JsonNode] = [:]
        for member in list {
            guard members.updateValue(member.value, forKey: member.name) == nil else { return nil }
        }
        return members
    }
}
