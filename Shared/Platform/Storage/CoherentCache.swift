public import Memos
public import Synchronization

/// Values that were read or written lately, so that most checks need no database.
///
/// A writer forgets the key after its commit and before it answers. A reader may only keep a value if nobody changed that key meanwhile. Keys share
/// counters of changes, so that now and then a read is not kept for a change of another key. When another process writes to the same file all is
/// forgotten, with the next look-up.
public final class CoherentCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Changes whenever the key, or one that shares its counter, is forgotten or replaced.
    public typealias Epoch = UInt64

    /// The number of counters of changes, a power of two.
    @inlinable static var counters: Int { 256 }

    public enum Lookup {
        case hit(Value)
        /// A value that is read now may be offered with this epoch.
        case miss(Epoch)
    }

    @usableFromInline
    struct State {
        @usableFromInline var values: BoundedCache<Key, Value>
        @usableFromInline var epochs = [Epoch](repeating: 0, count: counters)

        /// The generation of the store's changes by others, when all was last forgotten because of them.
        @usableFromInline var generation: UInt64 = 0

        @inlinable
        init(capacity: Int) { values = BoundedCache(capacity: capacity) }

        @inlinable
        mutating func forgetAll(_ capacity: Int) {
            values = BoundedCache(capacity: capacity)
            for counter in epochs.indices { epochs[counter] &+= 1 }
        }

        @inlinable
        static func counter(_ key: Key) -> Int { key.hashValue & (counters - 1) }
    }

    @usableFromInline let capacity: Int
    /// False: nothing is ever kept.
    @usableFromInline let isKept: Bool
    @usableFromInline let changes: (any StoreChanges)?
    @usableFromInline let state: Mutex<State>

    /// - Parameters:
    ///   - capacity: Entries, at least 2.
    ///   - changes: The changes of the source of the values; `nil` when no other process can change them, or what it changes does not matter.
    @inlinable
    public convenience init(capacity: Int, changes: (any StoreChanges)?) {
        self.init(capacity: capacity, changes: changes, isKept: true)
    }

    /// - Parameters:
    ///   - capacity: Entries, at least 2.
    ///   - store: That the values are read from. Where it is not coherent every look-up is a miss.
    public convenience init(capacity: Int, of store: Store) { self.init(capacity: capacity, changes: store.changes, isKept: store.isCoherent) }

    @inlinable
    init(capacity: Int, changes: (any StoreChanges)?, isKept: Bool) {
        self.capacity = capacity
        self.isKept = isKept
        self.changes = changes
        state = Mutex(State(capacity: capacity))
    }

    /// Entries, also those that another process's commit has made worthless.
    public var count: Int { state.withLock { $0.values.count } }

    @inlinable
    public func lookup(_ key: Key) -> Lookup {
        guard isKept else { return .miss(0) }
        let generation = changes?.generation ?? 0
        return state.withLock { state in
            if generation > state.generation {
                state.generation = generation
                state.forgetAll(capacity)
            }
            return state.values[key].map(Lookup.hit) ?? .miss(state.epochs[State.counter(key)])
        }
    }

    /// Keeps what was read from the store since that epoch, unless it may be out of date.
    @inlinable
    public func offer(_ value: Value, for key: Key, readIn epoch: Epoch) {
        guard isKept else { return }
        state.withLock { state in
            if state.epochs[State.counter(key)] == epoch { state.values[key] = value }
        }
    }

    /// Keeps what a commit wrote, unless another process has written since. Only for calls in the order of the commits:
    /// `Store.write(_:whenCommitted:)` makes them so.
    @inlinable
    public func replace(_ key: Key, with value: Value) {
        guard isKept else { return }
        state.withLock { state in
            // Within the lock: a look-up that hears of another process's commit after this empties the cache after this.
            state.values[key] = changes?.isLastCommitOwn ?? true ? value : nil
            state.epochs[State.counter(key)] &+= 1
        }
    }

    @inlinable
    public func forget(_ key: Key) {
        guard isKept else { return }
        state.withLock { state in
            state.values[key] = nil
            state.epochs[State.counter(key)] &+= 1
        }
    }

    @inlinable
    public func forgetAll() {
        state.withLock { $0.forgetAll(capacity) }
    }
}
