internal import Synchronization

/// States whether somebody waits for the work still. Work in an engine's queue that nobody waits for is not sent.
package final class Interest: Sendable {
    private let isOver = Atomic(false)

    /// The interest in work that somebody waits for until it is done.
    package static let always = Interest()

    package init() {}

    /// Nobody waits any more: the call was given up, or its time is over.
    package func end() { isOver.store(true, ordering: .relaxed) }

    package var isThere: Bool { !isOver.load(ordering: .relaxed) }
}

extension Interest {
    /// Hands work over and waits for its result. When the task is cancelled meanwhile, nobody waits for the work any more; the result comes all the
    /// same. A task that was cancelled before has reason to go on.
    static func awaiting<Value: Sendable>(_ submit: (Interest, CheckedContinuation<Value, Never>) -> Void) async -> Value {
        let interest = Interest()
        guard !Task.isCancelled else { return await withCheckedContinuation { submit(interest, $0) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { submit(interest, $0) }
        } onCancel: {
            interest.end()
        }
    }
}
