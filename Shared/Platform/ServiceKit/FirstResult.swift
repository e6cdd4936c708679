internal import Foundation
internal import Synchronization

/// The first result that comes counts; one task waits for it.
final class FirstResult<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case come(Result<Value, any Error>)
    }

    private let state = Mutex(State.open)

    /// Runs what blocks on a thread of its own, where it holds up nobody. A task that is cancelled does not wait for it.
    /// - Throws: The error of the body, or `CancellationError`.
    static func ofThread(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let result = FirstResult()
        Thread.detachNewThread { result.come(Result { try body() }) }
        return try await withTaskCancellationHandler {
            try await result.wait()
        } onCancel: {
            result.come(.failure(CancellationError()))
        }
    }

    func come(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .open:
                state = .come(result)
                return nil
            case .awaited(let waiter):
                state = .come(result)
                return waiter
            case .come: return nil
            }
        }
        waiter?.resume(with: result)
    }

    func wait() async throws -> Value {
        try await withCheckedThrowingContinuation { waiter in
            let result = state.withLock { state -> Result<Value, any Error>? in
                guard case .come(let result) = state else {
                    state = .awaited(waiter)
                    return nil
                }
                return result
            }
            if let result { waiter.resume(with: result) }
        }
    }
}
