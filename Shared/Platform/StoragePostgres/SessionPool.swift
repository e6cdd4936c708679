internal import Dispatch
internal import Faults
internal import Foundation
internal import Storage
internal import Synchronization

/// Threads with a connection each, for transactions with Swift between their statements. They come when they are needed, and go when nothing is to do.
final class SessionPool: Sendable {
    enum Job: Sendable {
        case write(PendingWrite)
        case read(Waiter, @Sendable (Result<Database, any Error>) -> Void)

        var waiter: Waiter {
            switch self {
            case .write(let write): write.waiter
            case .read(let waiter, _): waiter
            }
        }

        func fail(_ fault: Fault) {
            switch self {
            case .write(let write): write.fail(fault)
            case .read(_, let read): read(.failure(fault))
            }
        }
    }

    private struct State {
        var waiting: [Job] = []
        var threads = 0
        /// Threads that wait, and were not signalled.
        var idle = 0
        var isClosed = false
        var whenIdle: [@Sendable () -> Void] = []
    }

    /// A thread waits for work for this long.
    private static let rest: DispatchTimeInterval = .seconds(60)
    /// Tries of a transaction that others come between, and of one that finds a key taken.
    private static let (tries, triesOfDuplicate) = (8, 3)

    private let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)
    /// Held by a transaction that others came between more than once: one of them at a time comes through.
    private let turn = NSLock()
    private let heartbeat: Heartbeat
    private let most: Int
    private let limits: StoreLimits
    private let metrics: StoreMetrics

    /// - Parameter most: Threads.
    init(most: Int, limits: StoreLimits, metrics: StoreMetrics, heartbeat: Heartbeat) {
        self.most = most
        self.limits = limits
        self.metrics = metrics
        self.heartbeat = heartbeat
    }

    var waiting: Int { state.withLock { $0.waiting.count } }

    /// - Throws: `overloaded` when too much waits, `unavailable` after `close`.
    func submit(_ job: Job) throws(Fault) {
        enum Way { case signal, thread, none }
        let verdict = state.withLock { state -> Result<Way, Fault> in
            if state.isClosed { return .failure(.storeIsClosed) }
            if state.waiting.count >= limits.waitingWrites { return .failure(.storeIsBusy) }
            state.waiting.append(job)
            if state.idle > 0 {
                state.idle -= 1
                return .success(.signal)
            }
            guard state.threads < most else { return .success(.none) }
            state.threads += 1
            return .success(.thread)
        }
        switch try verdict.get() {
        case .signal: work.signal()
        case .thread:
            let thread = Thread { self.serve() }
            thread.name = "store-session"
            thread.start()
        case .none: break
        }
    }

    /// Refuses further work, and calls back when what waits is done.
    func close(whenIdle: @escaping @Sendable () -> Void) {
        let (idle, isOver) = state.withLock { state in
            state.isClosed = true
            defer { state.idle = 0 }
            if state.threads > 0 { state.whenIdle.append(whenIdle) }
            return (state.idle, state.threads == 0)
        }
        for _ in 0..<idle { work.signal() }
        if isOver { whenIdle() }
    }

    private func serve() {
        var connection: PostgresConnection?
        while let job = next() {
            guard job.waiter.isThere else {
                job.fail(.storeIsNotAwaited)
                continue
            }
            // While it rested the server may have said goodbye.
            connection?.giveUpIfSpoken()
            if let known = connection, !known.isUsable || heartbeat.health.isElsewhere(known) { connection = nil }
            do {
                let usable = try connection ?? heartbeat.connect()
                connection = usable
                run(job, usable)
            } catch {
                job.fail(.storage((error as? PostgresError)?.databaseError() ?? .away))
            }
        }
    }

    /// - Returns: `nil`: the thread is to end.
    private func next() -> Job? {
        while true {
            let (job, mayWait) = state.withLock { state -> (Job?, Bool) in
                if !state.waiting.isEmpty { return (state.waiting.removeFirst(), true) }
                if !state.isClosed { state.idle += 1 }
                return (nil, !state.isClosed)
            }
            if let job { return job }
            guard mayWait else {
                end()
                return nil
            }
            guard work.wait(timeout: .now() + Self.rest) == .timedOut else { continue }
            let isSignalled = state.withLock { state in
                guard state.idle > 0 else { return true }
                state.idle -= 1
                return false
            }
            guard isSignalled else {
                end()
                return nil
            }
            // In the very moment in which the time was over.
            work.wait()
        }
    }

    private func end() {
        let tell = state.withLock { state -> [@Sendable () -> Void] in
            state.threads -= 1
            guard state.threads == 0, state.isClosed else { return [] }
            defer { state.whenIdle = [] }
            return state.whenIdle
        }
        for tell in tell { tell() }
    }

    private func run(_ job: Job, _ connection: PostgresConnection) {
        switch job {
        case .write(let write): commit(write, connection)
        case .read(_, let read):
            let session = PostgresSession(connection, .reading, heartbeat.health)
            read(.success(Database(session)))
            session.rollback()
        }
    }

    private func commit(_ write: PendingWrite, _ connection: PostgresConnection) {
        var (isAlone, connection) = (false, connection)
        defer { if isAlone { turn.unlock() } }
        let first = ContinuousClock.now
        for attempt in 1... {
            let start = ContinuousClock.now
            let session = PostgresSession(connection, .writing, heartbeat.health)
            var delivery: PendingWrite.Delivery?
            do {
                let deliver = try write.perform(Database(session))
                delivery = deliver
                try session.commit()
                metrics.commits.increment()
                metrics.batchSize.record(1)
                metrics.commitSeconds.recordNanoseconds(start.duration(to: .now).wholeMicroseconds * 1000)
                return deliver()
            } catch {
                session.rollback()
                if let mark = session.doubt, let (verdict, next) = settle(mark) {
                    if verdict == .stored, let delivery { return delivery() }
                    connection = next
                    if verdict == .notStored, attempt == 1 { continue }
                }
                guard connection.isUsable, Self.mayRunAgain(error, after: attempt, since: first) else {
                    metrics.failedCommits.increment()
                    return write.fail(.storage(error))
                }
            }
            metrics.retries.increment()
            if attempt == 2 {
                turn.lock()
                isAlone = true
            }
            RetryPause.sleep(beforeTry: attempt)
        }
    }

    /// The outcome of a transaction whose end got no answer.
    /// - Returns: Also a connection that is there; `nil`: none is, within the time that callers wait.
    private func settle(_ mark: Int64) -> (CommitMark.Verdict, PostgresConnection)? {
        let end = ContinuousClock.now + CommitMark.patience
        var pause = ReconnectPause()
        repeat {
            if let connection = try? heartbeat.connect() {
                let verdict = CommitMark.verdict(mark, on: connection)
                if verdict != .unknown {
                    CommitMark.count(verdict, heartbeat.store)
                    return (verdict, connection)
                }
            }
            Thread.sleep(forTimeInterval: pause.next() / .seconds(1))
        } while ContinuousClock.now < end
        CommitMark.count(.unknown, heartbeat.store)
        return nil
    }

    private static func mayRunAgain(_ error: any Error, after attempt: Int, since first: ContinuousClock.Instant) -> Bool {
        switch (error as? DatabaseError)?.kind {
        case .conflict: attempt < tries || first.duration(to: .now) < RetryPause.patience
        case .duplicate: attempt < triesOfDuplicate
        default: false
        }
    }
}
