public import Synchronization

/// What was read or written lately, so that most checks need no database.
///
/// Right for one process per file: a writer forgets the key after its commit and before it answers, and a reader may only keep what it read
/// if nobody forgot anything meanwhile.
public final class CoherentCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Changes whenever something is forgotten.
    public typealias Epoch = UInt64

    public enum Lookup {
        case hit(Value)
        /// What is read now may be offered with this epoch.
        case miss(Epoch)
    }

    @usableFromInline
    struct State {
        @usableFromInline var values: BoundedCache<Key, Value>
        @usableFromInline var epoch: Epoch = 0

        @inlinable
        init(capacity: Int) { values = BoundedCache(capacity: capacity) }
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
            state.values[key].map(Lookup.hit) ?? .miss(state.epoch)
        }
    }

    /// Keeps what was read from the store since that epoch, unless it may be out of date.
    @inlinable
    public func offer(_ value: Value, for key: Key, readIn epoch: Epoch) {
        state.withLock { state in
            if state.epoch == epoch { state.values[key] = value }
        }
    }

    @inlinable
    public func forget(_ key: Key) {
        state.withLock { state in
            state.values[key] = nil
            state.epoch &+= 1
        }
    }

    @inlinable
    public func forgetAll() {
        state.withLock { state in
            state.values = BoundedCache(capacity: capacity)
            state.epoch &+= 1
        }
    }
}
