internal import Synchronization

/// Remembers what a pure function gave for its last arguments; bounded, as `BoundedCache` is.
public final class Memo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let cache: Mutex<BoundedCache<Key, Value>>

    /// - Parameter capacity: Entries, at least 2.
    public init(capacity: Int) { cache = Mutex(BoundedCache(capacity: capacity)) }

    /// - Parameter compute: Runs when the key is new; two callers at once may both run it.
    public func value(_ key: Key, _ compute: () throws -> Value) rethrows -> Value {
        if let known = self[key] { return known }
        let value = try compute()
        self[key] = value
        return value
    }

    /// The remembered value, for a computation that has to wait for something. Setting `nil` changes nothing.
    public subscript(key: Key) -> Value? {
        get { cache.withLock { $0[key] } }
        set {
            guard let newValue else { return }
            cache.withLock { $0[key] = newValue }
        }
    }
}
