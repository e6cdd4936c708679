/// A dictionary that never holds more than a number of entries: when it is full, the older half is dropped at once.
///
/// Two generations instead of a list of uses: reading costs one or two look-ups, and an entry that is read survives. Inlinable, so that it is
/// compiled for the keys and values of its users.
public struct BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let halfCapacity: Int
    @usableFromInline var young: [Key: Value] = [:]
    @usableFromInline var old: [Key: Value] = [:]

    /// - Parameter capacity: Entries, at least 2.
    @inlinable
    public init(capacity: Int) {
        precondition(capacity >= 2, "a cache holds at least two entries")
        halfCapacity = capacity / 2
    }

    @inlinable public var count: Int { young.count + old.count }

    @inlinable
    public subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            store(value, for: key)
            return value
        }
        set {
            old.removeValue(forKey: key)
            if let newValue { store(newValue, for: key) } else { young.removeValue(forKey: key) }
        }
    }

    @inlinable
    mutating func store(_ value: Value, for key: Key) {
        if young.count >= halfCapacity, young[key] == nil {
            old = young
            young = [:]
        }
        young[key] = value
    }
}
