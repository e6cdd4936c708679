internal import Synchronization

/// Which programs have connections to a server, to know when there are more than each copy can bear all connections of.
final class Callers: Sendable {
    private struct State {
        var connections: [UInt64: Int] = [:]
        var areMany = false
    }

    private let limit: Int
    /// Called at each change, one at a time.
    private let report: @Sendable (_ areMany: Bool) -> Void
    private let state = Mutex(State())

    /// - Parameter limit: More programs than these are many; they are until a quarter fewer are left.
    init(limit: Int, report: @escaping @Sendable (_ areMany: Bool) -> Void) {
        self.limit = limit
        self.report = report
    }

    var count: Int { state.withLock { $0.connections.count } }

    /// A program has one more connection.
    func enter(_ program: UInt64) {
        state.withLock { state in
            state.connections[program, default: 0] += 1
            judge(&state)
        }
    }

    /// A program has one connection fewer.
    func leave(_ program: UInt64) {
        state.withLock { state in
            guard let count = state.connections[program] else { return }
            state.connections[program] = count > 1 ? count - 1 : nil
            judge(&state)
        }
    }

    private func judge(_ state: inout State) {
        let areMany = state.connections.count > (state.areMany ? limit * 3 / 4 : limit)
        guard areMany != state.areMany else { return }
        state.areMany = areMany
        report(areMany)
    }
}
