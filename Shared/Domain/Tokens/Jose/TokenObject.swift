internal import StrictJson

/// A JSON object of a token or a key set, read to the letter of RFC 8259. A member that occurs twice makes it none: two readers could take it for two
/// things (RFC 7515 §4, RFC 7519 §4).
struct TokenObject: Sendable {
    private let members: [OctetText: JsonNode]

    /// - Returns: `nil` unless the text is one object.
    init?(_ text: [UInt8]) {
        guard let document = try? JsonDocument(parsing: text) else { return nil }
        self.init(document.root)
    }

    init?(_ node: JsonNode) {
        guard case .object(let list) = node.content else { return nil }
        var members: [OctetText: JsonNode] = Dictionary(minimumCapacity: list.count)
        for member in list where members.updateValue(member.value, forKey: OctetText(member.name)) != nil { return nil }
        self.members = members
    }

    /// `null` counts as absent.
    subscript(name: String) -> JsonNode? {
        guard let node = members[OctetText(name)] else { return nil }
        if case .null = node.content { return nil }
        return node
    }

    /// - Throws: `malformed` for anything but a string.
    func text(_ name: String) throws(TokenRejection) -> String? {
        guard let node = self[name] else { return nil }
        guard case .string(let text) = node.content else { throw .malformed }
        return text
    }

    /// - Throws: `malformed` also where there is none.
    func required(_ name: String) throws(TokenRejection) -> String {
        guard let text = try text(name) else { throw .malformed }
        return text
    }

    /// Seconds since 1970 (RFC 7519 §2).
    /// - Throws: `malformed` for anything but a number, a number as text among it, and beyond 2^53.
    func instant(_ name: String, _ rounding: NumericDate.Rounding = .down) throws(TokenRejection) -> Int64? {
        guard let node = self[name] else { return nil }
        guard case .number(let text) = node.content, let seconds = NumericDate.seconds(text, rounding) else { throw .malformed }
        return seconds
    }

    func requiredInstant(_ name: String) throws(TokenRejection) -> Int64 {
        guard let seconds = try instant(name) else { throw .malformed }
        return seconds
    }

    /// `aud`: one name, or a list of names (RFC 7519 §4.1.3).
    func audience() throws(TokenRejection) -> [String] {
        switch self["aud"]?.content {
        case .string(let name): return [name]
        case .array(let nodes):
            var names: [String] = []
            for node in nodes {
                guard case .string(let name) = node.content else { throw .malformed }
                names.append(name)
            }
            return names
        default: throw .malformed
        }
    }
}

/// The claims that a kind of token has.
protocol TokenClaims {
    /// - Throws: `malformed` where one is missing or of another type.
    init(_ claims: TokenObject) throws(TokenRejection)
}
