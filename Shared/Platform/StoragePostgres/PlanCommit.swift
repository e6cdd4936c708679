internal import Faults
internal import Glibc
internal import Storage

/// Commits the plans that wait, as many as come together in one transaction. A plan that does not hold is taken out, and the others go once more.
struct PlanCommit: Sendable {
    /// Least tries of a transaction that others come between.
    static let tries = 8

    private static let begin: Statement = "BEGIN ISOLATION LEVEL SERIALIZABLE"
    private static let commit: Statement = "COMMIT"
    private static let rollback: Statement = "ROLLBACK"

    let metrics: StoreMetrics
    let timeout: Duration

    private enum Attempt {
        /// The rows of each plan's steps.
        case stored([[any StoredRows]])
        /// The faults of some of the plans, by their places.
        case spoiled([Int: Result<[any StoredRows]?, Fault>])
        case conflict(PostgresError)
    }

    func callAsFunction(_ writes: [PlannedWrite], on connection: PostgresConnection) -> ConnectionLoss<PlannedWrite>? {
        var left = writes.sorted { $0.plan.subject.utf8.lexicographicallyPrecedes($1.plan.subject.utf8) }
        var (size, tries) = (left.count, 0)
        var firstConflict = ContinuousClock.now
        while !left.isEmpty {
            let group = Array(left.prefix(size))
            let attempt: Attempt
            do {
                attempt = try self.attempt(group, connection)
            } catch let lost as CommitLost {
                metrics.failedCommits.increment()
                return ConnectionLoss(lost.error, unfinished: Array(left.dropFirst(group.count)), doubt: Self.doubt(lost, group))
            } catch {
                metrics.failedCommits.increment()
                return ConnectionLoss(error, unfinished: left)
            }
            switch attempt {
            case .stored(let rows):
                left.removeFirst(group.count)
                for (write, rows) in zip(group, rows) { write.deliver(.success(rows)) }
                (size, tries) = (left.count, 0)
            case .spoiled(let results):
                for (index, result) in results { group[index].deliver(result) }
                left = left.enumerated().filter { results[$0.offset] == nil }.map(\.element)
                size = max(1, size - results.count)
            case .conflict(let error):
                if tries == 0 { firstConflict = .now }
                tries += 1
                metrics.retries.increment()
                if tries >= Self.tries, firstConflict.duration(to: .now) >= RetryPause.patience {
                    metrics.failedCommits.increment()
                    for write in group { write.deliver(.failure(.storage(error.databaseError()))) }
                    left.removeFirst(group.count)
                    (size, tries) = (left.count, 0)
                } else {
                    size = max(1, group.count / 2)
                    RetryPause.sleep(beforeTry: tries)
                }
            }
        }
        return nil
    }

    /// The connection was lost at the end of a transaction.
    private struct CommitLost: Error {
        let error: any Error
        let mark: Int64
        /// The rows of each plan's steps; `nil`: they were lost too.
        let rows: [[any StoredRows]]?
    }

    /// - Returns: A closure that tells the plans' callers how the plans ended. A plan that is not stored goes once more.
    private static func doubt(_ lost: CommitLost, _ group: [PlannedWrite]) -> CommitInDoubt<PlannedWrite> {
        let error = Fault.storage((lost.error as? PostgresError)?.databaseError() ?? .away)
        let rows = lost.rows
        return CommitInDoubt(mark: lost.mark) { verdict in
            if verdict == .stored, let rows {
                for (write, rows) in zip(group, rows) { write.deliver(.success(rows)) }
                return []
            }
            let again = verdict == .notStored ? group.filter { !$0.isSecond } : []
            for write in group where verdict != .notStored || write.isSecond { write.deliver(.failure(error)) }
            return again.map { write in
                var write = write
                write.isSecond = true
                return write
            }
        }
    }

    private func attempt(_ group: [PlannedWrite], _ connection: PostgresConnection) throws -> Attempt {
        let start = ContinuousClock.now
        let steps = group.flatMap(\.plan.steps)
        // Where no number of rows decides, the end goes along.
        let isDecided = steps.allSatisfy { $0.rows == nil }
        var commands = [PostgresConnection.Command(Self.begin)] + steps.map { PostgresConnection.Command($0.statement, $0.arguments) }
        let mark = CommitMark.fresh()
        // The rows of the steps are here before the end begins.
        commands.append(PostgresConnection.Command(CommitMark.add, CommitMark.arguments(mark), isFlushed: isDecided))
        if isDecided { commands.append(PostgresConnection.Command(Self.commit)) }
        var outcomes: ArraySlice<PostgresConnection.Outcome>
        do {
            outcomes = try connection.run(commands, timeout: timeout)[...]
        } catch {
            guard isDecided else { throw error }
            let answered = connection.answered
            throw CommitLost(error: error, mark: mark, rows: answered.count < commands.count - 1 ? nil : Self.rows(of: group, answered.dropFirst()))
        }
        if case .failed(let error) = outcomes.removeFirst() { throw error }
        var all: [[any StoredRows]] = []
        var spoiled: [Int: Result<[any StoredRows]?, Fault>] = [:]
        for (index, write) in group.enumerated() {
            var rows: [any StoredRows] = []
            for step in write.plan.steps {
                switch outcomes.removeFirst() {
                case .rows(let found):
                    rows.append(found)
                    if let wanted = step.rows, found.affected != wanted, spoiled[index] == nil { spoiled[index] = .success(nil) }
                case .failed(let error):
                    try end(connection)
                    if error.kind == .conflict { return .conflict(error) }
                    return .spoiled([
                        index: error.kind == .duplicate ? .success(nil) : .failure(.storage(error.databaseError(step.statement.postgres)))
                    ])
                case .skipped: throw PostgresError.lost("the server skipped a statement")
                }
            }
            all.append(rows)
        }
        if case .failed(let error) = outcomes.removeFirst() {
            try end(connection)
            guard error.kind == .conflict else { throw error }
            return .conflict(error)
        }
        guard spoiled.isEmpty else {
            try end(connection)
            return .spoiled(spoiled)
        }
        let last = isDecided ? outcomes.first : try committed(connection, mark, all)
        switch last {
        case .rows(let rows) where rows.tag == "COMMIT": break
        case .failed(let error) where error.kind == .conflict:
            try end(connection)
            return .conflict(error)
        case .failed(let error): throw error
        default: throw PostgresError.lost("the server did not commit")
        }
        metrics.commits.increment()
        metrics.batchSize.record(group.count)
        metrics.commitSeconds.recordNanoseconds(start.duration(to: .now).wholeMicroseconds * 1000)
        return .stored(all)
    }

    private func committed(_ connection: PostgresConnection, _ mark: Int64, _ rows: [[any StoredRows]]) throws -> PostgresConnection.Outcome? {
        do {
            return try connection.run([PostgresConnection.Command(Self.commit)], timeout: timeout).first
        } catch {
            throw CommitLost(error: error, mark: mark, rows: rows)
        }
    }

    /// - Returns: `nil`: a step failed.
    private static func rows(of group: [PlannedWrite], _ answered: ArraySlice<PostgresConnection.Outcome>) -> [[any StoredRows]]? {
        var left = answered
        var all: [[any StoredRows]] = []
        for write in group {
            var rows: [any StoredRows] = []
            for _ in write.plan.steps {
                guard case .rows(let found) = left.popFirst() else { return nil }
                rows.append(found)
            }
            all.append(rows)
        }
        return all
    }

    private func end(_ connection: PostgresConnection) throws {
        _ = try connection.run([PostgresConnection.Command(Self.rollback)], timeout: timeout)
    }
}

/// A plan with who waits for it.
struct PlannedWrite: QueuedWork {
    let plan: Plan
    let waiter: Waiter
    /// It was lost once before, and is known not to be stored.
    var isSecond = false
    let deliver: @Sendable (Result<[any StoredRows]?, Fault>) -> Void

    func fail(_ fault: Fault) { deliver(.failure(fault)) }
}

/// Waits before a transaction runs again that others came between: never all at one moment.
enum RetryPause {
    /// For at least that long a transaction that others come between is tried again, however often that is. After a fail-over all waiting ones come
    /// at once, and eight tries are over within 50 ms.
    static let patience: Duration = .milliseconds(500)

    /// - Parameter number: The number of the try, from 1 on.
    static func sleep(beforeTry number: Int) { usleep(.random(in: 0...(UInt32(1000) << UInt32(min(number - 1, 7))))) }
}

extension Duration {
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
