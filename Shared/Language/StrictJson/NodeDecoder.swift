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

    func mismatch(_ wanted: String) -> JsonProblem {
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
