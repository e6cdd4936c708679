internal import Faults
internal import Synchronization

/// Lets one writer in at a time, in the order in which they came: those of one copy do not wait in the store, where each would hold a connection.
final class WriterTurn: Sendable {
    /// Writers that wait.
    private static let most = 4096

    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// - Throws: `overloaded` when too many wait, and what the body throws.
    func taken<Value: Sendable>(_ body: @Sendable () async throws(Fault) -> Value) async throws(Fault) -> Value {
        guard state.withLock({ $0.waiting.count < Self.most }) else {
            throw Fault(.overloaded, "Too many changes of the catalogue wait.", retryAfter: .milliseconds(500))
        }
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                defer { state.isTaken = true }
                if state.isTaken { state.waiting.append(continuation) }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isTaken = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.resume()
    }
}
