internal import Faults
internal import Glibc
internal import Storage

/// A plan with who waits for it.
struct PlannedWrite: Sendable {
    let plan: Plan
    let deliver: @Sendable (Result<[any StoredRows]?, Fault>) -> Void
}

/// Commits the plans that wait, as many as come together in one transaction. A plan that does not hold is taken out, and the others go once more.
struct PlanCommit: Sendable {
    /// Tries of a transaction that others come between.
    static let tries = 8

    private static let begin: Statement = "BEGIN ISOLATION LEVEL SERIALIZABLE"
    private static let commit: Statement = "COMMIT"
    private static let rollback: Statement = "ROLLBACK"

    let metrics: StoreMetrics
    let timeout: Duration

    private enum Attempt {
        /// What the steps of each plan brought.
        case stored([[any StoredRows]])
        /// What is wrong with some of the plans, by their places.
        case spoiled([Int: Result<[any StoredRows]?, Fault>])
        case conflict(PostgresError)
    }

    func callAsFunction(_ writes: [PlannedWrite], on connection: PostgresConnection) -> LaneLoss<PlannedWrite>? {
        var left = writes.sorted { $0.plan.subject.utf8.lexicographicallyPrecedes($1.plan.subject.utf8) }
        var (size, tries) = (left.count, 0)
        while !left.isEmpty {
            let group = Array(left.prefix(size))
            let attempt: Attempt
            do {
                attempt = try self.attempt(group, connection)
            } catch {
                metrics.failedCommits.increment()
                return LaneLoss(error, unfinished: left)
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
                tries += 1
                metrics.retries.increment()
                if tries >= Self.tries {
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

    private func attempt(_ group: [PlannedWrite], _ connection: PostgresConnection) throws -> Attempt {
        let start = ContinuousClock.now
        let steps = group.flatMap(\.plan.steps)
        // Where no number of rows decides, the end goes along.
        let isDecided = steps.allSatisfy { $0.rows == nil }
        var commands = [PostgresConnection.Command(Self.begin)] + steps.map { PostgresConnection.Command($0.statement, $0.arguments) }
        if isDecided { commands.append(PostgresConnection.Command(Self.commit)) }
        var outcomes = try connection.run(commands, timeout: timeout)[...]
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
        guard spoiled.isEmpty else {
            try end(connection)
            return .spoiled(spoiled)
        }
        let last = isDecided ? outcomes.first : try connection.run([PostgresConnection.Command(Self.commit)], timeout: timeout).first
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

    private func end(_ connection: PostgresConnection) throws {
        _ = try connection.run([PostgresConnection.Command(Self.rollback)], timeout: timeout)
    }
}

/// Waits before a transaction runs again that others came between: never all at one moment.
enum RetryPause {
    /// - Parameter number: Of the try, from 1 on.
    static func sleep(beforeTry number: Int) { usleep(.random(in: 0...(UInt32(1000) << UInt32(min(number - 1, 7))))) }
}

extension Duration {
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
