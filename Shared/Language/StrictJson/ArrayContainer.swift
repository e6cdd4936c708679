internal import Octets

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
