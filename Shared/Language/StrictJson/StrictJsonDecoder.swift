internal import Octets

/// Decodes a document into a `Decodable` type and refuses what that type did not ask for.
public struct StrictJsonDecoder {
    private let userInfo: [CodingUserInfoKey: Any]
    private let ignoresUnknownNames: Bool

    /// - Parameters:
    ///   - userInfo: Handed to the types that are decoded.
    ///   - ignoresUnknownNames: True where others may add members, as in tokens (RFC 7519 §4).
    public init(userInfo: [CodingUserInfoKey: Any] = [:], ignoresUnknownNames: Bool = false) {
        self.userInfo = userInfo
        self.ignoresUnknownNames = ignoresUnknownNames
    }

    /// - Throws: `JsonProblem`, the first one: wrong type, missing key, unknown key unless they are ignored, key that occurs twice, or a `DecodingError` of the type's
    ///   own with its description as the message.
    public func decode<Value: Decodable>(_ type: Value.Type, from document: JsonDocument) throws(JsonProblem) -> Value {
        let visit = JsonVisit(document: document, userInfo: userInfo)
        do {
            let value = try Value(from: NodeDecoder(node: document.root, codingPath: [], visit: visit))
            if !ignoresUnknownNames { try visit.refuseUnknownNames() }
            return value
        } catch {
            throw visit.problem(error)
        }
    }
}

/// Which names of which objects were asked for while a document is decoded.
final class JsonVisit {
    private struct Visited {
        let members: [JsonMember]
        let path: JsonPath
        var known: Set<OctetText> = []
    }

    let userInfo: [CodingUserInfoKey: Any]
    private let document: JsonDocument
    private var objects: [Int: Visited] = [:]
    private var order: [Int] = []

    init(document: JsonDocument, userInfo: [CodingUserInfoKey: Any]) {
        self.document = document
        self.userInfo = userInfo
    }

    func enter(_ node: JsonNode, _ members: [JsonMember], path: [any CodingKey]) throws(JsonProblem) {
        guard objects[node.offset] == nil else { return }
        var seen: Set<OctetText> = []
        for member in members where !seen.insert(member.name).inserted {
            throw problem(JsonPath(path).appending(key: member.name), at: member.offset, "occurs twice")
        }
        objects[node.offset] = Visited(members: members, path: JsonPath(path))
        order.append(node.offset)
    }

    func ask(_ name: String, of node: JsonNode) { objects[node.offset]?.known.insert(name) }

    func refuseUnknownNames() throws(JsonProblem) {
        for visited in order.compactMap({ objects[$0] }) {
            guard let member = visited.members.first(where: { !visited.known.contains($0.name) }) else { continue }
            let known = visited.known.texts.sorted().joined(separator: ", ")
            throw problem(visited.path.appending(key: member.name), at: member.offset, "is not known here; known are \(known)")
        }
    }

    func problem(_ path: JsonPath, at offset: Int?, _ message: String) -> JsonProblem {
        JsonProblem(path: path, position: offset.map(document.position(of:)), message: message)
    }

    func problem(_ error: any Error) -> JsonProblem {
        switch error {
        case let problem as JsonProblem: problem
        case DecodingError.keyNotFound(let key, let context):
            problem(JsonPath(context.codingPath).appending(key: key.stringValue), at: nil, "is missing")
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            problem(JsonPath(context.codingPath), at: nil, context.debugDescription)
        default: problem(.root, at: nil, "cannot be read: \(error)")
        }
    }
}
