extension Sequence where Element == String {
    @inlinable
    public func contains(_ text: String) -> Bool { contains { sameOctets($0, text) } }
}

extension Collection where Element == String {
    @inlinable
    public func firstIndex(of text: String) -> Index? { firstIndex { sameOctets($0, text) } }
}

extension Array where Element == String {
    @inlinable
    public static func == (left: [String], right: [String]) -> Bool { left.count == right.count && zip(left, right).allSatisfy(sameOctets) }

    @inlinable
    public static func != (left: [String], right: [String]) -> Bool { !(left == right) }

    /// In the order of the octets.
    @inlinable
    public func sorted() -> [String] { sorted { $0 < $1 } }
}
