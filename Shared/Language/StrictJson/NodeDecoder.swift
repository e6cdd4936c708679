internal import Octets

/// Presents one node to `Decodable` types.
struct NodeDecoder: Decoder {
    let node: JsonNode
    let codingPath: [any CodingKey]
    let visit: JsonVisit
    var userInfo: [CodingUserInfoKey: Any] { visit.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = node.content else { throw mismatch("an object") }
        try visit.enter(node, members, path: codingPath)
        return KeyedDecodingContainer(ObjectContainer(members: members, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = node.content else { throw mismatch("an array") }
        return ArrayContainer(elements: elements, decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func child(_ node: JsonNode, _ key: any CodingKey) -> NodeDecoder {
        NodeDecoder(node: node, codingPath: codingPath + [key], visit: visit)
    }

    func mismatch(_ wanted: String) -> JsonRejection {
        visit.problem(JsonPath(codingPath), at: node.offset, "must be \(wanted); it is \(node.kind)")
    }

    private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        guard case .number(let text) = node.content else { throw mismatch("a whole number") }
        if let value = Value(text) { return value }
        let message = "must be a whole number from \(Value.min) to \(Value.max); it is \(text)"
        throw visit.problem(JsonPath(codingPath), at: node.offset, message)
    }
}

extension NodeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { if case .null = node.content { true } else { false } }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let value) = node.content else { throw mismatch("true or false") }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let value) = node.content else { throw mismatch("a string") }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard case .number(let text) = node.content, let value = Double(text), value.isFinite else { throw mismatch("a number") }
        return value
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}

/// The members of an object, as `Decodable` types ask for them.
struct ObjectContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [JsonMember]
    let decoder: NodeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try Value(from: member(key)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

    private func find(_ key: Key) -> JsonNode? {
        decoder.visit.ask(key.stringValue, of: decoder.node)
        return members.first { $0.name == key.stringValue }?.value
    }

    private func member(_ key: Key) throws -> NodeDecoder {
        guard let node = find(key) else {
            throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: "is missing"))
        }
        return decoder.child(node, key)
    }
}

/// The elements of an array, as `Decodable` types ask for them.
struct ArrayContainer: UnkeyedDecodingContainer {
    private struct Index: CodingKey {
        let number: Int
        var intValue: Int? { number }
        var stringValue: String { String(number) }
        init(_ number: Int) { self.number = number }
        init?(intValue: Int) { self.init(intValue) }
        init?(stringValue: String) { nil }
    }

    let elements: [JsonNode]
    let decoder: NodeDecoder
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: [JsonNode], decoder: NodeDecoder) {
        self.elements = elements
        self.decoder = decoder
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, case .null = elements[currentIndex].content else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: next()) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> NodeDecoder {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Any.self, DecodingError.Context(codingPath: codingPath, debugDescription: "has too few elements"))
        }
        defer { currentIndex += 1 }
        return decoder.child(elements[currentIndex], Index(currentIndex))
    }
}

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

    /// - Throws: `JsonRejection`, the first one: wrong type, missing key, unknown key unless they are ignored, key that occurs twice, or a `DecodingError` of the type's
    ///   own with its description as the message.
    public func decode<Value: Decodable>(_ type: Value.Type, from document: JsonDocument) throws(JsonRejection) -> Value {
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

    func enter(_ node: JsonNode, _ members: [JsonMember], path: [any CodingKey]) throws(JsonRejection) {
        guard objects[node.offset] == nil else { return }
        var seen: Set<OctetText> = []
        for member in members where !seen.insert(member.name).inserted {
            throw problem(JsonPath(path).appending(key: member.name), at: member.offset, "occurs twice")
        }
        objects[node.offset] = Visited(members: members, path: JsonPath(path))
        order.append(node.offset)
    }

    func ask(_ name: String, of node: JsonNode) { objects[node.offset]?.known.insert(name) }

    func refuseUnknownNames() throws(JsonRejection) {
        for visited in order.compactMap({ objects[$0] }) {
            guard let member = visited.members.first(where: { !visited.known.contains($0.name) }) else { continue }
            let known = visited.known.texts.sorted().joined(separator: ", ")
            throw problem(visited.path.appending(key: member.name), at: member.offset, "is not known here; known are \(known)")
        }
    }

    func problem(_ path: JsonPath, at offset: Int?, _ message: String) -> JsonRejection {
        JsonRejection(path: path, position: offset.map(document.position(of:)), message: message)
    }

    func problem(_ error: any Error) -> JsonRejection {
        switch error {
        case let problem as JsonRejection: problem
        case DecodingError.keyNotFound(let key, let context):
            problem(JsonPath(context.codingPath).appending(key: key.stringValue), at: nil, "is missing")
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            problem(JsonPath(context.codingPath), at: nil, context.debugDescription)
        default: problem(.root, at: nil, "cannot be read: \(error)")
        }
    }
}
