internal import Dispatch
internal import Faults
internal import GRDB
internal import Storage
internal import Synchronization

/// Collects the writes of many callers and commits them together. There is one fsync for all that arrived while the previous one was under way, and,
/// where many come, for those of a moment more.
///
/// It runs on the database's own writer queue, never on a caller's thread.
final class GroupCommit: Sendable {
    private struct State {
        var waiting: [PendingWrite] = []
        var isDraining = false
        var isClosed = false
        /// Waiting writes with which the commit that is being gathered begins; 0 while none is.
        var awaited = 0
        var pace = CommitPace()
        var journal: Journal
        var whenIdle: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>
    private let pool: DatabasePool
    private let limits: StoreLimits
    private let metrics: StoreMetrics
    private let changes: SqliteChanges
    private let enough = DispatchSemaphore(value: 0)

    init(pool: DatabasePool, limits: StoreLimits, metrics: StoreMetrics, changes: SqliteChanges, journal: Journal) {
        state = Mutex(State(journal: journal))
        self.pool = pool
        self.limits = limits
        self.metrics = metrics
        self.changes = changes
    }

    var waitingWrites: Int { state.withLock { $0.waiting.count } }

    /// Queues a write.
    /// - Throws: `overloaded` when the queue is full, `unavailable` after `close`.
    func submit(_ write: PendingWrite) throws(Fault) {
        let verdict = state.withLock { state -> Result<Submission, Fault> in
            if state.isClosed { return .failure(.storeIsClosed) }
            if state.waiting.count >= limits.waitingWrites { return .failure(.storeIsBusy) }
            state.waiting.append(write)
            defer { state.isDraining = true }
            return .success(!state.isDraining ? .first : Self.isEnough(&state) ? .last : .other)
        }
        if case .failure = verdict { metrics.refused.increment() }
        switch try verdict.get() {
        case .first: pool.asyncWriteWithoutTransaction { self.drain($0) }
        case .last: enough.signal()
        case .other: break
        }
    }

    /// The effect of a write on the commit that it waits for.
    private enum Submission {
        /// Nothing was under way.
        case first
        /// The one that the commit waited for.
        case last
        case other
    }

    /// - Returns: True once: whoever gathers must be told.
    private static func isEnough(_ state: inout State) -> Bool {
        guard state.awaited > 0, state.isClosed || state.waiting.count >= state.awaited else { return false }
        state.awaited = 0
        return true
    }

    /// Refuses new writes and calls back when all earlier ones are committed.
    func close(whenIdle: @escaping @Sendable () -> Void) {
        let (isIdle, mustTell) = state.withLock { state in
            state.isClosed = true
            if state.isDraining { state.whenIdle.append(whenIdle) }
            return (!state.isDraining, Self.isEnough(&state))
        }
        if mustTell { enough.signal() }
        if isIdle { whenIdle() }
    }

    /// Commits a change that no program reads, and needs a page more meanwhile.
    /// - Parameter tell: Called with whether the disk has taken it.
    func tryDisk(_ tell: @escaping @Sendable (Bool) -> Void) {
        guard !state.withLock({ $0.isClosed }) else { return tell(false) }
        pool.asyncWriteWithoutTransaction { database in
            var isCommitting = false
            do {
                try database.inTransaction(.immediate) {
                    try database.inSavepoint {
                        try database.execute(sql: "CREATE TABLE room_for_a_page (x)")
                        return .rollback
                    }
                    // An unchanged value would not be written.
                    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                    try database.execute(sql: "PRAGMA user_version = \((version + 1) & 0xffff)")
                    isCommitting = true
                    self.changes.willCommit()
                    return .commit
                }
                self.changes.didCommit()
                tell(true)
            } catch {
                if isCommitting { self.changes.markUncertain() }
                tell(false)
            }
        }
    }

    private func drain(_ database: GRDB.Database) {
        gather()
        while let batch = nextBatch() {
            commit(batch, database)
            boundJournal(database)
            gather()
        }
    }

    private func boundJournal(_ database: GRDB.Database) {
        // Only the writer changes it.
        var journal = state.withLock { $0.journal }
        journal.bound(database)
        state.withLock { $0.journal = journal }
    }

    /// Waits a moment where many write.
    private func gather() {
        let mustWait = state.withLock { state in
            // Without a single one the store is idle.
            guard !state.isClosed, !state.waiting.isEmpty else { return false }
            let wanted = min(state.pace.worthWaiting(at: .now), limits.writesPerCommit, limits.waitingWrites)
            guard state.waiting.count < wanted else { return false }
            state.awaited = wanted
            return true
        }
        guard mustWait, enough.wait(timeout: .now() + .nanoseconds(Int(limits.gathering.wholeNanoseconds))) == .timedOut else { return }
        let isTold = state.withLock { state in
            defer { state.awaited = 0 }
            return state.awaited == 0
        }
        // Told in the very moment in which the time was over.
        if isTold { enough.wait() }
    }

    private func nextBatch() -> [PendingWrite]? {
        let (batch, left, idle) = state.withLock { state -> ([PendingWrite], Int, [@Sendable () -> Void]) in
            let batch = Array(state.waiting.prefix(limits.writesPerCommit))
            state.waiting.removeFirst(batch.count)
            guard batch.isEmpty else { return (batch, state.waiting.count, []) }
            state.isDraining = false
            defer { state.whenIdle = [] }
            return (batch, 0, state.whenIdle)
        }
        metrics.queueDepth.record(left)
        for tell in idle { tell() }
        return batch.isEmpty ? nil : batch
    }

    private func commit(_ batch: [PendingWrite], _ database: GRDB.Database) {
        let start = ContinuousClock.now
        do {
            let deliveries = try transaction(batch, database)
            metrics.commits.increment()
            metrics.batchSize.record(batch.count)
            metrics.commitSeconds.recordNanoseconds(start.duration(to: .now).wholeNanoseconds)
            // Before anybody hears of it: who was told may write again at once, and would be counted twice.
            state.withLock { $0.pace.committed(batch.count, waiting: $0.waiting.count, at: .now) }
            for deliver in deliveries { deliver() }
        } catch {
            metrics.failedCommits.increment()
            abandon(batch, error, database)
        }
    }

    /// A savepoint costs as much as a small write. Only a batch with a write that fails is run again, each write in a savepoint of its own.
    private func transaction(_ batch: [PendingWrite], _ database: GRDB.Database) throws -> [PendingWrite.Delivery] {
        if let deliveries = try? transaction(batch, database, { try $0.perform($1) }) { return deliveries }
        return try transaction(batch, database) { try isolated($0, $1, database) }
    }

    private func transaction(
        _ batch: [PendingWrite], _ database: GRDB.Database, _ run: (PendingWrite, Storage.Database) throws -> PendingWrite.Delivery
    ) throws -> [PendingWrite.Delivery] {
        var deliveries: [PendingWrite.Delivery] = []
        deliveries.reserveCapacity(batch.count)
        let session = Storage.Database(SqliteSession(database))
        let changesBefore = database.totalChangesCount
        var isCommitting = false
        do {
            try database.inTransaction(.immediate) {
                for write in batch { deliveries.append(try run(write, session)) }
                isCommitting = database.totalChangesCount != changesBefore
                if isCommitting { changes.willCommit() }
                return .commit
            }
        } catch {
            if isCommitting { changes.markUncertain() }
            throw error
        }
        if isCommitting { changes.didCommit() }
        return deliveries
    }

    /// A failure undoes this write alone, unless SQLite itself gave up the whole transaction.
    private func isolated(_ write: PendingWrite, _ session: Storage.Database, _ database: GRDB.Database) throws -> PendingWrite.Delivery {
        do {
            var delivery: PendingWrite.Delivery = {}
            try database.inSavepoint {
                delivery = try write.perform(session)
                return .commit
            }
            return delivery
        } catch {
            guard database.isInsideTransaction else { throw error }
            let fault = Fault.storage(Storage.DatabaseError.translating(error))
            return { write.fail(fault) }
        }
    }

    /// Nothing of the batch is stored. One write may be to blame (a constraint that is checked at commit). So each gets a commit of its own, but not
    /// on a full disk, where that would only be slow.
    private func abandon(_ batch: [PendingWrite], _ error: any Error, _ database: GRDB.Database) {
        let fault = Fault.storage(Storage.DatabaseError.translating(error))
        if batch.count > 1, fault.code != .storageFull {
            for write in batch { commit([write], database) }
        } else {
            for write in batch { write.fail(fault) }
        }
    }
}

extension Duration {
    /// Whole nanoseconds; spans of more than 292 years are cut there.
    var wholeNanoseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : seconds + components.attoseconds / 1_000_000_000
    }
}
