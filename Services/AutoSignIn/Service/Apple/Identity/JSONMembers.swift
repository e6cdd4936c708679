internal import StrictJson
internal import Tokens

/// The members of one JSON object (RFC 8259), all different: two readers could take a member that occurs twice for two things. So are those of the
/// objects inside.
package struct JSONMembers: Sendable {
    /// Nesting beyond this is refused: nothing that Apple sends comes near it.
    private static let deepest = 16
    /// Members of one object: each is compared with those before it.
    private static let mostMembers = 128

    enum Value: Sendable {
        case string(String)
        /// As it is written.
        case number(String)
        case bool(Bool)
        case null
        case object(JSONMembers)
        case array
    }

    private let list: [(name: String, value: Value)]

    /// - Returns: `nil` unless the text is one object.
    package init?(_ text: [UInt8]) {
        guard let document = try? JsonDocument(parsing: text) else { return nil }
        self.init(document.root, depth: 1)
    }

    private init?(_ node: JsonNode, depth: Int) {
        guard case .object(let members) = node.content, depth <= Self.deepest, members.count <= Self.mostMembers else { return nil }
        var list: [(name: String, value: Value)] = []
        list.reserveCapacity(members.count)
        for member in members {
            guard !list.contains(where: { $0.name == member.name }), let value = Self.value(member.value, depth: depth) else { return nil }
            list.append((member.name, value))
        }
        self.list = list
    }

    /// - Parameter depth: The depth of the object or array that the value stands in.
    private static func value(_ node: JsonNode, depth: Int) -> Value? {
        switch node.content {
        case .null: .null
        case .bool(let isTrue): .bool(isTrue)
        case .number(let text): .number(text)
        case .string(let text): .string(text)
        case .object: JSONMembers(node, depth: depth + 1).map(Value.object)
        case .array(let elements):
            depth < deepest && elements.allSatisfy { value($0, depth: depth + 1) != nil } ? .array : nil
        }
    }

    /// An object has a dozen members: a search costs less than a table of them.
    subscript(name: String) -> Value? { list.first { $0.name == name }?.value }

    func string(_ name: String) -> String? {
        guard case .string(let text) = self[name] else { return nil }
        return text
    }

    /// Nil unless it is a whole number of 64 bits, written without fraction and exponent.
    func number(_ name: String) -> Int64? {
        guard case .number(let text) = self[name] else { return nil }
        return Int64(text)
    }

    /// Seconds since 1970, without the fraction that they may have (RFC 7519 §2).
    func instant(_ name: String) -> Int64? {
        guard case .number(let text) = self[name] else { return nil }
        return NumericDate.seconds(text, .down)
    }

    /// A Boolean, or its name as a string: Apple sends either (apple §2.3).
    func bool(_ name: String) -> Bool? {
        switch self[name] {
        case .bool(let isTrue): isTrue
        case .string("true"): true
        case .string("false"): false
        default: nil
        }
    }
}
