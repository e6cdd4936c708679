import AuthorizationService
import Faults
import Synchronization

/// The store of tests.
final class InMemoryRefusalStore: RefusalStore {
    private let kept = Mutex<(refusals: [String: NotedRefusal], isAway: Bool)>(([:], false))

    var all: [NotedRefusal] { kept.withLock { Array($0.refusals.values) } }

    /// Refuses everything from now on.
    func goAway() { kept.withLock { $0.isAway = true } }

    func keep(_ refusals: [NotedRefusal]) async throws(Fault) {
        guard !kept.withLock({ $0.isAway }) else { throw Fault(.unavailable, "away") }
        kept.withLock { kept in for refusal in refusals { kept.refusals[refusal.session] = refusal } }
    }

    func refusals(of sessions: [String]) async throws(Fault) -> [NotedRefusal] {
        guard !kept.withLock({ $0.isAway }) else { throw Fault(.unavailable, "away") }
        return kept.withLock { kept in sessions.compactMap { kept.refusals[$0] } }
    }

    func forget(_ sessions: [String]) async throws(Fault) -> Int {
        guard !kept.withLock({ $0.isAway }) else { throw Fault(.unavailable, "away") }
        return kept.withLock { kept in sessions.count { kept.refusals.removeValue(forKey: $0) != nil } }
    }
}
