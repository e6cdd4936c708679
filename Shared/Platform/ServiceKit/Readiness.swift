internal import CoreMetrics
internal import Synchronization

/// States whether the program can do its work now: each part says so for itself. A part that is only worth knowing does not take the program out of
/// service.
public final class Readiness: Sendable {
    /// `nil` when the part is ready, else what it lacks.
    public typealias Check = @Sendable () -> String?

    private struct State {
        var checks: [(part: String, check: Check)] = []
        var notes: [(name: String, check: Check)] = []
        /// Parts that count; `nil`: all.
        var counted: Set<String>?
        var isStopping = false

        func counts(_ part: String) -> Bool { counted?.contains(part) ?? true }
    }

    private let state = Mutex(State())

    /// Adds a part without which the program can do nothing.
    /// - Parameter part: Also a label of a metric, and therefore written out where it is added.
    public func require(_ part: StaticString, _ check: @escaping Check) {
        state.withLock { $0.checks.append(("\(part)", check)) }
    }

    /// Adds the start of the program.
    func requireStart(_ check: @escaping Check) { state.withLock { $0.checks.append((Self.start, check)) } }

    /// Adds what operators are to know though the program works; in the place of what was added under the same name.
    /// - Parameter name: The name of a peer, for example, or of a part.
    public func note(_ name: String, _ check: @escaping Check) {
        state.withLock { state in
            state.notes.removeAll { $0.name == name }
            state.notes.append((name, check))
        }
    }

    /// From now on these parts alone take the program out of service, and a start that is under way; what others lack is only told.
    public func count(only parts: StaticString...) { state.withLock { $0.counted = Set(parts.map { "\($0)" } + [Self.start]) } }

    /// The part that lacks something until the program is built: what it counts is not all there before.
    static let start = "start"

    /// From now on nothing is ready.
    public func stop() { state.withLock { $0.isStopping = true } }

    /// The lacking parts, as `part: reason`; empty when the program is ready.
    public var lacking: [String] { found(in: state.withLock { $0 }).compactMap { part, reason in reason.map { "\(part): \($0)" } } }

    /// Facts that operators are to know of a program that is ready, as `name: reason`.
    public var degraded: [String] {
        let state = state.withLock { $0 }
        return (state.checks.filter { !state.counts($0.part) }.map { ($0.part, $0.check) } + state.notes.map { ($0.name, $0.check) })
            .compactMap { name, check in check().map { "\(name): \($0)" } }
    }

    /// Tells the metrics, of each part that counts.
    func record(in metrics: PrometheusMetrics) {
        let parts = found(in: state.withLock { $0 })
        metrics.makeMeter(label: "boxoffice_ready", dimensions: []).set(Int64(parts.allSatisfy { $0.reason == nil } ? 1 : 0))
        for (part, reason) in parts {
            metrics.makeMeter(label: "boxoffice_not_ready", dimensions: [("part", part)]).set(Int64(reason == nil ? 0 : 1))
        }
    }

    /// - Returns: The lacks of each part that counts; a program that stops lacks nothing else.
    private func found(in state: State) -> [(part: String, reason: String?)] {
        var found: [(part: String, reason: String?)] = [("program", state.isStopping ? "is stopping" : nil)]
        for (part, check) in state.checks where state.counts(part) { found.append((part, state.isStopping ? nil : check())) }
        return found
    }
}

/// A fact that becomes true once.
final class Milestone: Sendable {
    private let reached = Atomic(false)

    func reach() { reached.store(true, ordering: .releasing) }
    var isReached: Bool { reached.load(ordering: .acquiring) }
}
