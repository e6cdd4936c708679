package import Faults

/// Where an engine takes statements that are known whole, without a connection of the caller's: those of many callers travel together.
package protocol StatementLanes: Sendable {
    /// Runs a statement that only reads, by itself, on all that was acknowledged before.
    /// - Parameter interest: True when somebody waits for it still.
    /// - Throws: `overloaded` when too many wait, `unavailable` when the engine is away.
    func look(
        _ statement: Statement, _ arguments: Arguments, _ interest: Interest,
        _ deliver: @escaping @Sendable (Result<any StoredRows, Fault>) -> Void
    ) throws(Fault)

    /// Stores a plan.
    /// - Parameters:
    ///   - interest: True when somebody waits for it still.
    ///   - deliver: Gets what each step brought; `nil`: a step had another number of rows, or a key was taken, and nothing is stored.
    /// - Throws: As `look`.
    func commit(_ plan: Plan, _ interest: Interest, _ deliver: @escaping @Sendable (Result<[any StoredRows]?, Fault>) -> Void) throws(Fault)
}
