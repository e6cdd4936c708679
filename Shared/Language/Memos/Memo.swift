internal import Synchronization

/// Remembers what a pure function gave for its last arguments; bounded: when it is full, the older half is dropped at once.
public final class Memo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Two generations instead of a list of uses: an entry that is read survives.
    private struct Generations {
        var young: [Key: Value] = [:]
        var old: [Key: Value] = [:]

        mutating func store(_ value: Value, for key: Key, halfCapacity: Int) {
            if young.count >= halfCapacity, young[key] == nil {
                old = young
                young = [:]
            }
            young[key] = value
        }
    }

    private let halfCapacity: Int
    private let state = Mutex(Generations())

    /// - Parameter capacity: Entries, at least 2.
    public init(capacity: Int) {
        precondition(capacity >= 2, "a memo holds at least two entries")
        halfCapacity = capacity / 2
    }

    /// - Parameter compute: Runs when the key is new; two callers at once may both run it.
    public func value(_ key: Key, _ compute: () throws -> Value) rethrows -> Value {
        if let known = self[key] { return known }
        let value = try compute()
        self[key] = value
        return value
    }

    /// The remembered value, for a computation that has to wait for something. Setting `nil` changes nothing.
    public subscript(key: Key) -> Value? {
        get {
            state.withLock { state -> Value? in
                if let value = state.young[key] { return value }
                guard let value = state.old.removeValue(forKey: key) else { return nil }
                state.store(value, for: key, halfCapacity: halfCapacity)
                return value
            }
        }
        set {
            guard let newValue else { return }
            state.withLock { $0.store(newValue, for: key, halfCapacity: halfCapacity) }
        }
    }
}
