import Synchronization

/// Documented refusals beside 503 that the fault of the moment, or one before it, may bring.
final class Tolerance: Sendable {
    enum View: Sendable {
        case notTolerated
        case partOfTheFault
        case aftermath
    }

    private struct State {
        var now: [Operation: Set<Int>] = [:]
        var later: [Operation: (statuses: Set<Int>, until: ContinuousClock.Instant)] = [:]
    }

    private let state = Mutex(State())

    func begin(_ budget: Budget) { state.withLock { $0.now = budget.tolerated } }

    /// The fault is over; what it leaves behind is excused for a while.
    func end(_ budget: Budget) {
        state.withLock { state in
            if let aftermath = budget.aftermath {
                for (operation, statuses) in budget.tolerated { state.later[operation] = (statuses, .now + aftermath) }
            }
            state.now = [:]
        }
    }

    func view(of status: Int, _ operation: Operation) -> View {
        state.withLock { state in
            if state.now[operation]?.contains(status) ?? false { return .partOfTheFault }
            guard let later = state.later[operation], later.statuses.contains(status), later.until > .now else { return .notTolerated }
            return .aftermath
        }
    }
}
