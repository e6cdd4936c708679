internal import Cryptography
package import StrictJson

/// A JSON value for its own sake, without its place in a text; the members of an object have no order.
package enum JsonTree: Hashable, Sendable {
    case null
    case bool(Bool)
    /// As it is written.
    case number(String)
    case string(String)
    case array([JsonTree])
    case object([String: JsonTree])

    /// - Parameters:
    ///   - node: The last of equal names counts; a caller that must not accept them checks before.
    ///   - replacement: The value at a place instead of the node's own.
    package init(_ node: JsonNode, at path: JsonPath = .root, replacement: (JsonPath) -> JsonTree? = { _ in nil }) {
        if let other = replacement(path) {
            self = other
            return
        }
        switch node.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .string(let text): self = .string(text)
        case .array(let nodes):
            self = .array(nodes.enumerated().map { JsonTree($1, at: path.appending(index: $0), replacement: replacement) })
        case .object(let members):
            let pairs = members.map { ($0.name, JsonTree($0.value, at: path.appending(key: $0.name), replacement: replacement)) }
            self = .object(Dictionary(pairs) { _, last in last })
        }
    }

    /// The member of that name; `nil` also for what is no object.
    package subscript(name: String) -> JsonTree? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    package var elements: [JsonTree] { if case .array(let elements) = self { elements } else { [] } }

    /// The strings of an array.
    package var texts: [String] { elements.compactMap(\.text) }

    /// Sets or removes what is at a path of member names; objects on the way that are missing are made.
    package mutating func set(_ path: ArraySlice<String>, to value: JsonTree?) {
        guard let name = path.first else { return }
        var members: [String: JsonTree] = if case .object(let members) = self { members } else { [:] }
        if path.count == 1 {
            members[name] = value
        } else {
            var member = members[name] ?? .object([:])
            member.set(path.dropFirst(), to: value)
            members[name] = member
        }
        self = .object(members)
    }
}

extension JsonTree {
    /// The one text of this value: no spaces, members in the order of their names' bytes. Equal values have equal texts.
    package var canonical: String { String(decoding: canonicalBytes, as: UTF8.self) }

    package var canonicalBytes: [UInt8] {
        // Digests are made of this form, so it must stay.
        var json = JsonWriter(.lineFeed)
        write(to: &json)
        return json.bytes
    }

    /// SHA-256 of the canonical text, 64 lower-case hex digits.
    package var sha256: String { Hex.encode(SHA256.hash(canonicalBytes)) }

    private func write(to json: inout JsonWriter) {
        switch self {
        case .null: json.null()
        case .bool(let value): json.bool(value)
        case .number(let text): json.written(text)
        case .string(let text): json.string(text)
        case .array(let elements):
            json.beginArray()
            for element in elements { element.write(to: &json) }
            json.endArray()
        case .object(let members):
            json.beginObject()
            for (name, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                json.name(name)
                value.write(to: &json)
            }
            json.endObject()
        }
    }
}
