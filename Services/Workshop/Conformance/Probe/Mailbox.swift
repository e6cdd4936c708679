internal import Synchronization

/// Events of one connection in their order, for one reader that waits up to a time limit.
final class Mailbox: Sendable {
    private struct State {
        var events: [ProbeEvent] = []
        var waiter: (number: Int, continuation: CheckedContinuation<ProbeEvent?, Never>)?
        var waits = 0
    }

    private let state = Mutex(State())

    func put(_ event: ProbeEvent) {
        let waiter = state.withLock { state in
            let waiter = state.waiter?.continuation
            state.waiter = nil
            if waiter == nil { state.events.append(event) }
            return waiter
        }
        waiter?.resume(returning: event)
    }

    /// - Returns: `nil` when nothing came in the time.
    func next(within patience: Duration) async -> ProbeEvent? {
        let timer = Mutex<Task<Void, Never>?>(nil)
        let event = await withCheckedContinuation { (continuation: CheckedContinuation<ProbeEvent?, Never>) in
            let number = state.withLock { state -> Int? in
                guard state.events.isEmpty else {
                    continuation.resume(returning: state.events.removeFirst())
                    return nil
                }
                state.waits += 1
                state.waiter = (state.waits, continuation)
                return state.waits
            }
            guard let number else { return }
            let task = Task {
                try? await Task.sleep(for: patience)
                self.expire(number)
            }
            timer.withLock { $0 = task }
        }
        timer.withLock { $0?.cancel() }
        return event
    }

    private func expire(_ number: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<ProbeEvent?, Never>? in
            guard let waiter = state.waiter, waiter.number == number else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume(returning: nil)
    }
}
