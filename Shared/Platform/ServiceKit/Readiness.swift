internal import Synchronization

/// Whether the program can do its work now: each part says so for itself.
public final class Readiness: Sendable {
    /// `nil` when the part is ready, else what it lacks.
    public typealias Check = @Sendable () -> String?

    private struct State {
        var checks: [(part: String, check: Check)] = []
        var isStopping = false
    }

    private let state = Mutex(State())

    /// Adds a part.
    public func require(_ part: String, _ check: @escaping Check) { state.withLock { $0.checks.append((part, check)) } }

    /// From now on nothing is ready.
    public func stop() { state.withLock { $0.isStopping = true } }

    /// What is lacking, as `part: reason`; empty when the program is ready.
    public var lacking: [String] {
        let (checks, isStopping) = state.withLock { ($0.checks, $0.isStopping) }
        if isStopping { return ["program: is stopping"] }
        return checks.compactMap { part, check in check().map { "\(part): \($0)" } }
    }
}

/// A fact that becomes true once.
final class Milestone: Sendable {
    private let reached = Atomic(false)

    func reach() { reached.store(true, ordering: .releasing) }
    var isReached: Bool { reached.load(ordering: .acquiring) }
}
