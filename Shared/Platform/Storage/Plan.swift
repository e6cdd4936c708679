internal import Faults

/// Statements that are stored together or not at all, all known before the first of them runs. An engine behind a network sends them at once.
public struct Plan: Sendable {
    package struct Step: Sendable {
        package let statement: Statement
        package let arguments: Arguments
        /// How many rows it must change or return for the plan to hold.
        package let rows: Int?
    }

    /// The subject of the plan, for example a device. Plans of one commit run in this order, so that two commits rarely wait for each other.
    package let subject: String
    package private(set) var steps: [Step] = []

    /// - Parameter subject: The subject of the plan.
    public init(for subject: String) { self.subject = subject }

    /// - Parameter rows: How many rows it must change or return; with another number nothing of the plan is stored. `nil`: any.
    public mutating func add(_ statement: Statement, _ arguments: Arguments = [], rows: Int? = nil) {
        steps.append(Step(statement: statement, arguments: arguments, rows: rows))
    }

    /// - Throws: As `Arguments.requireStorable`.
    func storable() throws(Fault) -> Plan {
        for step in steps { try step.arguments.requireStorable() }
        return self
    }
}
