internal import Faults
internal import Storage

/// A statement with its arguments, for a transaction or for a plan.
struct BoundStatement: Sendable {
    let statement: Statement
    let arguments: Arguments

    init(_ statement: Statement, _ arguments: Arguments) {
        self.statement = statement
        self.arguments = arguments
    }
}

extension Database {
    /// - Returns: How many rows it inserted, changed or deleted.
    @discardableResult
    func run(_ step: BoundStatement) throws -> Int { try run(step.statement, step.arguments) }
}

extension Plan {
    /// - Parameter rows: How many rows it must change or return; `nil`: any.
    mutating func add(_ step: BoundStatement, rows: Int? = nil) { add(step.statement, step.arguments, rows: rows) }
}

extension AutoSignInStore {
    /// Runs one statement in a commit of its own: nothing that memory holds.
    /// - Returns: How many rows it inserted, changed or deleted.
    /// - Throws: Faults of the storage.
    @discardableResult
    func change(_ step: BoundStatement, of subject: String) async throws(Fault) -> Int {
        try await store.change(step.statement, step.arguments, of: subject)
    }
}
