internal import Octets

/// The members of an object being read.
public final class JsonObject {
    private let members: [JsonMember]
    private let value: JsonValue
    private var known: Set<OctetText> = []

    init(members: [JsonMember], value: JsonValue) {
        self.members = members
        self.value = value
    }

    public var path: JsonPath { value.path }

    /// Notes what is wrong with the object as a whole.
    public func problem(_ message: String) { value.problem(message) }

    /// The member of that name; a problem when there is none.
    public func required(_ name: String) -> JsonValue? {
        if let value = optional(name) { return value }
        let path = value.path.appending(key: name)
        value.problems.add(path, at: value.node.offset, "is missing")
        return nil
    }

    /// The member of that name, or `nil`.
    public func optional(_ name: String) -> JsonValue? {
        known.insert(name)
        return members.first { $0.name == name }.map {
            JsonValue(node: $0.value, path: value.path.appending(key: name), problems: value.problems)
        }
    }

    /// Reads all members, whatever their names; those for which the body returns `nil` are left out.
    public func entries<Element>(_ body: (_ name: String, _ value: JsonValue) -> Element?) -> [Element] {
        members.compactMap { member in
            known.insert(member.name)
            return body(member.name, JsonValue(node: member.value, path: value.path.appending(key: member.name), problems: value.problems))
        }
    }

    func refuseUnknownNames() {
        var seen: Set<OctetText> = []
        for member in members {
            let path = value.path.appending(key: member.name)
            if !known.contains(member.name) {
                value.problems.add(path, at: member.offset, "is not known here; known are \(known.texts.sorted().joined(separator: ", "))")
            } else if !seen.insert(member.name).inserted {
                value.problems.add(path, at: member.offset, "occurs twice")
            }
        }
    }
}
