internal import Synchronization

/// Counts up to a limit, from several event loops.
final class CallCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// - Returns: `false`, without counting, when the limit is reached.
    func enter(limit: Int) -> Bool {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        leave()
        return false
    }

    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
