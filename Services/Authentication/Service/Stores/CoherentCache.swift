internal import Synchronization

/// What was read or written lately, so that most checks need no database.
///
/// Right for one process per file: a writer forgets the key after its commit and before it answers, and a reader may only keep what it read
/// if nobody forgot anything meanwhile.
final class CoherentCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Changes whenever something is forgotten.
    typealias Epoch = UInt64

    enum Lookup {
        case hit(Value)
        /// What is read now may be offered with this epoch.
        case miss(Epoch)
    }

    private struct State {
        var values: BoundedCache<Key, Value>
        var epoch: Epoch = 0
    }

    private let capacity: Int
    private let state: Mutex<State>

    /// - Parameter capacity: Entries, at least 2.
    init(capacity: Int) {
        self.capacity = capacity
        state = Mutex(State(values: BoundedCache(capacity: capacity)))
    }

    func lookup(_ key: Key) -> Lookup {
        state.withLock { state in
            state.values[key].map(Lookup.hit) ?? .miss(state.epoch)
        }
    }

    /// Keeps what was read from the store since that epoch, unless it may be out of date.
    func offer(_ value: Value, for key: Key, readIn epoch: Epoch) {
        state.withLock { state in
            if state.epoch == epoch { state.values[key] = value }
        }
    }

    func forget(_ key: Key) {
        state.withLock { state in
            state.values[key] = nil
            state.epoch &+= 1
        }
    }

    func forgetAll() {
        state.withLock { state in
            state.values = BoundedCache(capacity: capacity)
            state.epoch &+= 1
        }
    }
}
