internal import GRDB
internal import Storage
internal import Synchronization

/// Runs reads of concurrent callers together, on a snapshot that they share: a snapshot of its own costs several times what a lookup does.
///
/// A read that finds a free reader begins at once. The others wait until a reader is free, and are then taken together. They are taken before their
/// snapshot is: whoever reads sees every write that was acknowledged before it asked.
final class GroupRead: Sendable {
    /// Gets the database, or why there is none.
    typealias Job = @Sendable (Result<Storage.Database, any Error>) -> Void

    private struct State {
        var waiting: [Job] = []
        /// Readers that are busy.
        var running = 0
    }

    /// Reads on one snapshot at most: a long one delays the others that share it.
    private static let largestGroup = 32

    private let pool: DatabasePool
    private let readers: Int
    private let state = Mutex(State())

    init(pool: DatabasePool, readers: Int) {
        self.pool = pool
        self.readers = readers
    }

    func submit(_ job: @escaping Job) {
        let group: [Job]? = state.withLock { state in
            guard state.running < readers else {
                state.waiting.append(job)
                return nil
            }
            state.running += 1
            return [job]
        }
        if let group { run(group) }
    }

    private func run(_ group: [Job]) {
        pool.asyncRead { opened in
            let database = opened.map { Storage.Database(SqliteSession($0)) }.mapError(Storage.DatabaseError.translating)
            for job in group { job(database) }
            self.goOn()
        }
    }

    private func goOn() {
        let group: [Job]? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            let group = Array(state.waiting.prefix(Self.largestGroup))
            state.waiting.removeFirst(group.count)
            return group
        }
        if let group { run(group) }
    }
}
