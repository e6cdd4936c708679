/// One fault under load, and what it may cost.
struct Experiment: Sendable {
    /// As `--only` takes it: `kill authentication`.
    let name: String
    let budget: Budget
    /// Before the load begins, without a budget.
    var prepare: @Sendable (Stage) async throws -> Void = { _ in }
    /// Brings the fault about and ends it, once or several times.
    let inject: @Sendable (Stage) async throws -> Injection
    /// After the load has ended.
    var restore: @Sendable (Stage) async throws -> Void = { _ in }
    /// Resident memory is compared before and after: for faults that end no process.
    var watchesMemory = false
    /// Why it cannot run here; `nil` when it can.
    var obstacle: String?
}
