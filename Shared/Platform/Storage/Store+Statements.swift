public import Faults
internal import Spans

// Statements that are known whole. An engine behind a network answers them in one round trip, beside those of other callers; SQLite runs them as `read` and
// `write` do.
extension Store {
    /// The first row of a statement that only reads, on all that was acknowledged before.
    /// - Throws: As `read`.
    @inlinable
    public func first<Value: Sendable>(
        _ statement: Statement, _ arguments: Arguments = [], _ read: @escaping @Sendable (inout ColumnReader) throws -> Value
    ) async throws(Fault) -> Value? {
        guard hasLanes else { return try await self.read { try $0.first(statement, arguments, read) } }
        let rows = try await look(statement, arguments)
        return try Self.reading { try rows.first(read) }
    }

    /// All rows of a statement that only reads, on all that was acknowledged before.
    /// - Throws: As `read`.
    @inlinable
    public func all<Value: Sendable>(
        _ statement: Statement, _ arguments: Arguments = [], _ read: @escaping @Sendable (inout ColumnReader) throws -> Value
    ) async throws(Fault) -> [Value] {
        guard hasLanes else { return try await self.read { try $0.all(statement, arguments, read) } }
        let rows = try await look(statement, arguments)
        return try Self.reading { try rows.all(read) }
    }

    /// The first column of the first row; also `nil` when that is NULL.
    /// - Throws: As `read`.
    @inlinable
    public func value<Value: ColumnValue>(_ statement: Statement, _ arguments: Arguments = []) async throws(Fault) -> Value? {
        try await first(statement, arguments) { $0.next() as Value? } ?? nil
    }

    /// Runs one statement that changes rows, and returns when that is on disk.
    /// - Returns: How many rows it inserted, changed or deleted.
    /// - Throws: As `write`.
    @discardableResult
    public func change(_ statement: Statement, _ arguments: Arguments = [], of subject: String = "") async throws(Fault) -> Int {
        guard let lanes else { return try await write { try $0.run(statement, arguments) } }
        var plan = Plan(for: subject)
        try arguments.requireStorable()
        plan.add(statement, arguments)
        // Without a number of rows to keep to, a taken key alone brings no answer.
        guard let rows = try await stored(plan, in: lanes) else {
            throw .storage(DatabaseError(.other, "a key is taken: \(statement.postgres)"))
        }
        return rows.first?.affected ?? 0
    }

    /// Stores a plan, where the engine takes plans.
    /// - Parameter plan: Called only there.
    /// - Returns: The rows of each step. `nil`: nothing is stored, as a step had another number of rows, a key was taken, or the engine takes no
    ///   plans. `write` is then to find out, step by step.
    /// - Throws: As `write`.
    public func commit(_ plan: () throws(Fault) -> Plan) async throws(Fault) -> [any StoredRows]? {
        guard let lanes else { return nil }
        return try await stored(try plan().storable(), in: lanes)
    }

    private func stored(_ plan: Plan, in lanes: any StatementLanes) async throws(Fault) -> [any StoredRows]? {
        let span = span(plan)
        let result = await Interest.awaiting { (interest, continuation: CheckedContinuation<Result<[any StoredRows]?, Fault>, Never>) in
            do throws(Fault) {
                try lanes.commit(plan, interest) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        span?.end(result)
        noteWrite(result)
        return try result.get()
    }

    /// Only where there are lanes.
    @usableFromInline
    func look(_ statement: Statement, _ arguments: Arguments) async throws(Fault) -> any StoredRows {
        try arguments.requireStorable()
        guard let lanes else { throw .storeIsClosed }
        let span = span(statement)
        let result = await Interest.awaiting { (interest, continuation: CheckedContinuation<Result<any StoredRows, Fault>, Never>) in
            do throws(Fault) {
                try lanes.look(statement, arguments, interest) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        span?.end(result)
        return try result.get()
    }

    @usableFromInline
    static func reading<Value>(_ body: () throws -> Value) throws(Fault) -> Value {
        do {
            return try body()
        } catch {
            throw .storage(error)
        }
    }
}
