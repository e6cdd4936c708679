internal import Clocks
internal import StrictJson

/// Members that are looked for; others are not looked at, so that an upstream may add some.
extension JsonNode {
    var members: [JsonMember]? { if case .object(let members) = content { members } else { nil } }
    var elements: [JsonNode]? { if case .array(let elements) = content { elements } else { nil } }
    var string: String? { if case .string(let text) = content { text } else { nil } }
    var bool: Bool? { if case .bool(let bool) = content { bool } else { nil } }
    var integer: Int64? { if case .number(let text) = content { Int64(text) } else { nil } }

    /// The latest moment that JSON carries exactly (RFC 8259 §6), in milliseconds since 1970: a later one is a mistake or an attack.
    static let latestMilliseconds: Int64 = 1 << 53

    /// Milliseconds since 1970, as a number or as its digits: upstream writes both.
    /// - Returns: `nil` for anything else, for a negative number, and for one above 2^53.
    private var moment: Timestamp? {
        let written = integer ?? string.flatMap { text in text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil }
        guard let written, (0...Self.latestMilliseconds).contains(written) else { return nil }
        return Timestamp(milliseconds: written)
    }

    /// The moment that a member tells; `nil`: the member is absent.
    /// - Throws: `unusable` where the member is no moment: nothing is kept until then, and nothing ends then.
    func moment(_ name: String) throws(BridgeFailure) -> Timestamp? {
        guard let member = self[name] else { return nil }
        guard let moment = member.moment else { throw .unusable("\(name) is no number of milliseconds from 0 to 2^53") }
        return moment
    }

    /// Texts of an array; other elements are left out.
    var strings: [String] { elements?.compactMap(\.string) ?? [] }

    /// The first member of that name that is not null.
    subscript(name: String) -> JsonNode? {
        guard let value = members?.first(where: { $0.name == name })?.value else { return nil }
        if case .null = value.content { return nil }
        return value
    }

    /// True when no value is nested deeper than that.
    func isAtMost(_ depth: Int) -> Bool {
        guard depth > 0 else { return false }
        switch content {
        case .array(let elements): return elements.allSatisfy { $0.isAtMost(depth - 1) }
        case .object(let members): return members.allSatisfy { $0.value.isAtMost(depth - 1) }
        default: return true
        }
    }

    /// True when a name or a text in it has U+0000, which no store and no header takes.
    var containsNul: Bool {
        switch content {
        case .string(let text): text.utf8.contains(0)
        case .array(let elements): elements.contains { $0.containsNul }
        case .object(let members): members.contains { $0.name.utf8.contains(0) || $0.value.containsNul }
        default: false
        }
    }
}
