public import Synchronization

/// What was read or written lately, so that most checks need no database.
///
/// Right for one process per file: a writer forgets the key after its commit and before it answers, and a reader may only keep what it read
/// if nobody changed that key meanwhile. Keys share counters of changes, so that now and then a read is not kept for a change of another key.
public final class CoherentCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Changes whenever the key, or one that shares its counter, is forgotten or replaced.
    public typealias Epoch = UInt64

    /// Of changes, a power of two.
    @inlinable static var counters: Int { 256 }

    public enum Lookup {
        case hit(Value)
        /// What is read now may be offered with this epoch.
        case miss(Epoch)
    }

    @usableFromInline
    struct State {
        @usableFromInline var values: BoundedCache<Key, Value>
        @usableFromInline var epochs = [Epoch](repeating: 0, count: counters)

        @inlinable
        init(capacity: Int) { values = BoundedCache(capacity: capacity) }

        @inlinable
        static func counter(_ key: Key) -> Int { key.hashValue & (counters - 1) }
    }

    @usableFromInline let capacity: Int
    @usableFromInline let state: Mutex<State>

    /// - Parameter capacity: Entries, at least 2.
    @inlinable
    public init(capacity: Int) {
        self.capacity = capacity
        state = Mutex(State(capacity: capacity))
    }

    @inlinable
    public func lookup(_ key: Key) -> Lookup {
        state.withLock { state in
            state.values[key].map(Lookup.hit) ?? .miss(state.epochs[State.counter(key)])
        }
    }

    /// Keeps what was read from the store since that epoch, unless it may be out of date.
    @inlinable
    public func offer(_ value: Value, for key: Key, readIn epoch: Epoch) {
        state.withLock { state in
            if state.epochs[State.counter(key)] == epoch { state.values[key] = value }
        }
    }

    /// Keeps what a commit wrote. Only for calls in the order of the commits: `Store.write(_:whenCommitted:)` makes them so.
    @inlinable
    public func replace(_ key: Key, with value: Value) {
        state.withLock { state in
            state.values[key] = value
            state.epochs[State.counter(key)] &+= 1
        }
    }

    @inlinable
    public func forget(_ key: Key) {
        state.withLock { state in
            state.values[key] = nil
            state.epochs[State.counter(key)] &+= 1
        }
    }

    @inlinable
    public func forgetAll() {
        state.withLock { state in
            state.values = BoundedCache(capacity: capacity)
            for counter in state.epochs.indices { state.epochs[counter] &+= 1 }
        }
    }
}
