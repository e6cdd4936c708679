internal import Octets
internal import Synchronization

/// Waits for an operation, and stops waiting at once when the task is cancelled, even if the operation goes on.
///
/// Apps, platforms and transports are foreign code: an unanswered dialog or a hanging call must not hold up a cancellation.
/// - Parameter cancels: True when the operation is cancelled too; false when others wait for it.
/// - Throws: The error of the operation, or `CancellationError`.
func abandonable<Value: Sendable>(cancels: Bool = true, _ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let outcome = Outcome<Value>()
    let task = Task {
        do {
            outcome.settle(.success(try await operation()))
        } catch {
            outcome.settle(.failure(error))
        }
    }
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { outcome.wait($0) }
    } onCancel: {
        outcome.settle(.failure(CancellationError()))
        if cancels { task.cancel() }
    }
}

/// Settled once, awaited once, in either order.
final class Outcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case settled(Result<Value, any Error>)
        case over
    }

    private let state = Mutex(State.open)

    /// - Returns: False when it was settled before.
    @discardableResult
    func settle(_ result: Result<Value, any Error>) -> Bool {
        let (waiter, isFirst) = state.withLock { state -> (CheckedContinuation<Value, any Error>?, Bool) in
            switch state {
            case .open:
                state = .settled(result)
                return (nil, true)
            case .awaited(let continuation):
                state = .over
                return (continuation, true)
            case .settled, .over: return (nil, false)
            }
        }
        waiter?.resume(with: result)
        return isFirst
    }

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            guard case .settled(let result) = state else {
                state = .awaited(continuation)
                return nil
            }
            state = .over
            return result
        }
        if let result { continuation.resume(with: result) }
    }
}
