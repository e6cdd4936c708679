internal import StrictJson

/// The members of a JSON object that an MVPD sent. One with a member twice is refused: two readers could take it for two things.
struct ClaimSet: Sendable {
    private var members: [OctetText: JsonNode.Content] = [:]

    /// - Returns: `nil` unless the text is one JSON object whose members all differ.
    init?(json: [UInt8]) {
        guard let document = try? JsonDocument(parsing: json), case .object(let list) = document.root.content else { return nil }
        for member in list {
            guard members.updateValue(member.value.content, forKey: member.name) == nil else { return nil }
        }
    }

    /// Nothing is known of the person.
    init() {}

    func has(_ name: String) -> Bool { members[name] != nil }

    /// A text, or a number as it is written.
    func text(_ name: String) -> String? { members[name].flatMap(Self.text) }

    func number(_ name: String) -> Int64? {
        guard case .number(let text) = members[name] else { return text(name).flatMap { Int64($0) } }
        return Int64(text)
    }

    /// `true`, `"true"` or `"1"` (mvpd §2.5: `hba_status`).
    func isTrue(_ name: String) -> Bool { text(name).map { ["true", "1"].contains($0.lowercased()) } ?? false }

    /// The claim as attributes: the parts of an object become keys of their own, such as `maxRating.VCHIP`.
    func values(_ name: String, as key: String) -> [(key: String, values: [String])] {
        switch members[name] {
        case .object(let parts):
            return parts.compactMap { part in Self.text(part.value.content).map { ("\(key).\(part.name)", [$0]) } }
        case .array(let list):
            let texts = list.compactMap { Self.text($0.content) }
            return texts.isEmpty ? [] : [(key, texts)]
        case .some(let value): return Self.text(value).map { [(key, [$0])] } ?? []
        case nil: return []
        }
    }

    /// This set with the other's claims added; where both have a claim, this one's counts.
    func merged(with other: ClaimSet) -> ClaimSet {
        var merged = self
        merged.members.merge(other.members) { own, _ in own }
        return merged
    }

    private static func text(_ content: JsonNode.Content) -> String? {
        switch content {
        case .string(let text), .number(let text): text
        case .bool(let isTrue): isTrue ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
