internal import Synchronization

/// Sessions that were read or written lately, so that most checks need no database.
///
/// Right for one process per file: a writer forgets the key after its commit and before it answers, and a reader may only keep what it read
/// if nobody forgot anything meanwhile.
final class SessionCache: Sendable {
    /// Changes whenever a key is forgotten.
    typealias Epoch = UInt64

    enum Lookup {
        case hit(SessionRecord)
        /// What is read now may be offered with this epoch.
        case miss(Epoch)
    }

    private struct State {
        var records: BoundedCache<SessionKey, SessionRecord>
        var epoch: Epoch = 0
    }

    private let state: Mutex<State>

    /// - Parameter capacity: Sessions, at least 2.
    init(capacity: Int) { state = Mutex(State(records: BoundedCache(capacity: capacity))) }

    func lookup(_ key: SessionKey) -> Lookup {
        state.withLock { state in
            state.records[key].map(Lookup.hit) ?? .miss(state.epoch)
        }
    }

    /// Keeps what was read from the store since that epoch, unless it may be out of date.
    func offer(_ record: SessionRecord, readIn epoch: Epoch) {
        state.withLock { state in
            if state.epoch == epoch { state.records[record.key] = record }
        }
    }

    func forget(_ key: SessionKey) {
        state.withLock { state in
            state.records[key] = nil
            state.epoch &+= 1
        }
    }
}
