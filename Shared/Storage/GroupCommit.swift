internal import Faults
internal import GRDB
internal import Synchronization

/// Collects the writes of many callers and commits them together: one fsync for all that arrived while the previous one was under way.
///
/// It runs on the database's own writer queue, never on a caller's thread.
final class GroupCommit: Sendable {
    private struct State {
        var waiting: [PendingWrite] = []
        var isDraining = false
        var isClosed = false
        var whenIdle: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let pool: DatabasePool
    private let limits: StoreLimits
    private let metrics: StoreMetrics
    private let changes: StoreChanges

    init(pool: DatabasePool, limits: StoreLimits, metrics: StoreMetrics, changes: StoreChanges) {
        self.pool = pool
        self.limits = limits
        self.metrics = metrics
        self.changes = changes
    }

    var waitingWrites: Int { state.withLock { $0.waiting.count } }

    /// Queues a write.
    /// - Throws: `overloaded` when the queue is full, `unavailable` after `close`.
    func submit(_ write: PendingWrite) throws(Fault) {
        let verdict = state.withLock { state -> Result<Bool, Fault> in
            if state.isClosed { return .failure(.storeIsClosed) }
            if state.waiting.count >= limits.waitingWrites { return .failure(.storeIsBusy) }
            state.waiting.append(write)
            defer { state.isDraining = true }
            return .success(!state.isDraining)
        }
        if case .failure = verdict { metrics.refused.increment() }
        if try verdict.get() { pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    /// Refuses new writes and calls back when all earlier ones are committed.
    func close(whenIdle: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.isClosed = true
            if state.isDraining { state.whenIdle.append(whenIdle) }
            return !state.isDraining
        }
        if isIdle { whenIdle() }
    }

    private func drain(_ database: Database) {
        while let batch = nextBatch() { commit(batch, database) }
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

    private func commit(_ batch: [PendingWrite], _ database: Database) {
        let start = ContinuousClock.now
        do {
            let deliveries = try transaction(batch, database)
            metrics.commits.increment()
            metrics.batchSize.record(batch.count)
            metrics.commitSeconds.recordNanoseconds(start.duration(to: .now).wholeNanoseconds)
            for deliver in deliveries { deliver() }
        } catch {
            metrics.failedCommits.increment()
            abandon(batch, error, database)
        }
    }

    /// A savepoint costs as much as a small write: only a batch with a write that fails is run again, each write in a savepoint of its own.
    private func transaction(_ batch: [PendingWrite], _ database: Database) throws -> [PendingWrite.Delivery] {
        if let deliveries = try? transaction(batch, database, { try $0.perform($1) }) { return deliveries }
        return try transaction(batch, database, isolated)
    }

    private func transaction(
        _ batch: [PendingWrite], _ database: Database, _ run: (PendingWrite, Database) throws -> PendingWrite.Delivery
    ) throws -> [PendingWrite.Delivery] {
        var deliveries: [PendingWrite.Delivery] = []
        deliveries.reserveCapacity(batch.count)
        let changesBefore = database.totalChangesCount
        var isCommitting = false
        do {
            try database.inTransaction(.immediate) {
                for write in batch { deliveries.append(try run(write, database)) }
                isCommitting = database.totalChangesCount != changesBefore
                if isCommitting { changes.willCommit() }
                return .commit
            }
        } catch {
            if isCommitting { changes.isUncertain() }
            throw error
        }
        if isCommitting { changes.didCommit() }
        return deliveries
    }

    /// A failure undoes this write alone, unless SQLite itself gave up the whole transaction.
    private func isolated(_ write: PendingWrite, _ database: Database) throws -> PendingWrite.Delivery {
        do {
            var delivery: PendingWrite.Delivery = {}
            try database.inSavepoint {
                delivery = try write.perform(database)
                return .commit
            }
            return delivery
        } catch {
            guard database.isInsideTransaction else { throw error }
            let fault = Fault.storage(error)
            return { write.fail(fault) }
        }
    }

    /// Nothing of the batch is stored. One write may be to blame (a constraint that is checked at commit): each gets a commit of its own,
    /// but not on a full disk, where that would only be slow.
    private func abandon(_ batch: [PendingWrite], _ error: any Error, _ database: Database) {
        let fault = Fault.storage(error)
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
