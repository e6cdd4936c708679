/// A text as the key of a dictionary or as a member of a set: two are equal when their octets are.
public struct OctetText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let text: String

    @inlinable
    public init(_ text: String) { self.text = text }

    @inlinable
    public init(_ text: Substring) { self.text = String(text) }

    @inlinable
    public init(stringLiteral text: String) { self.text = text }

    public var description: String { text }

    @inlinable
    public static func == (left: OctetText, right: OctetText) -> Bool { sameOctets(left.text, right.text) }

    @inlinable
    public static func < (left: OctetText, right: OctetText) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xff as UInt8)
    }
}

extension OctetText: Codable, CodingKeyRepresentable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    /// As the plain text.
    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public var codingKey: any CodingKey { Key(stringValue: text) }

    public init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}

extension Dictionary where Key == OctetText {
    /// - Parameter combine: Called with the old and the new value where a key comes again.
    @inlinable
    public init(texts: some Sequence<(String, Value)>, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows {
        try self.init(texts.lazy.map { (OctetText($0), $1) }, uniquingKeysWith: combine)
    }

    @inlinable
    public subscript(key: String) -> Value? {
        get { self[OctetText(key)] }
        set { self[OctetText(key)] = newValue }
        _modify { yield &self[OctetText(key)] }
    }

    @inlinable
    public subscript(key: String, default fallback: @autoclosure () -> Value) -> Value {
        get { self[OctetText(key)] ?? fallback() }
        _modify { yield &self[OctetText(key), default: fallback()] }
    }

    @inlinable
    @discardableResult
    public mutating func removeValue(forKey key: String) -> Value? { removeValue(forKey: OctetText(key)) }

    @inlinable
    @discardableResult
    public mutating func updateValue(_ value: Value, forKey key: String) -> Value? { updateValue(value, forKey: OctetText(key)) }
}

extension Set where Element == OctetText {
    /// In no particular order.
    @inlinable
    public var texts: [String] { map(\.text) }

    @inlinable
    public init(texts: some Sequence<String>) { self.init(texts.lazy.map { OctetText($0) }) }

    @inlinable
    @_disfavoredOverload
    public func contains(_ text: String) -> Bool { contains(OctetText(text)) }

    @inlinable
    @discardableResult
    @_disfavoredOverload
    public mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: OctetText) { insert(OctetText(text)) }

    @inlinable
    @discardableResult
    @_disfavoredOverload
    public mutating func remove(_ text: String) -> OctetText? { remove(OctetText(text)) }
}
