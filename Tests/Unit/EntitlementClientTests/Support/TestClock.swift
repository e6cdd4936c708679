import EntitlementClient
import Foundation
import Synchronization

/// Time that passes only during a sleep.
final class TestClock: ClientClock {
    private struct State {
        var now = Date(timeIntervalSince1970: 1_900_000_000)
        var uptime: Duration = .zero
        var sleeps: [Duration] = []
        var whenSleeping: (@Sendable (Int) -> Void)?
    }

    private let state = Mutex(State())

    var now: Date { state.withLock { $0.now } }
    var uptime: Duration { state.withLock { $0.uptime } }
    /// How long was slept, each time.
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    func advance(_ seconds: Double) {
        state.withLock { state in
            state.now += seconds
            state.uptime += .seconds(seconds)
        }
    }

    /// Sets the device's clock; no time passes.
    func setAhead(_ seconds: Double) { state.withLock { $0.now += seconds } }

    /// - Parameter action: Called at each sleep with its number, from 1.
    func whenSleeping(_ action: @escaping @Sendable (Int) -> Void) { state.withLock { $0.whenSleeping = action } }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        let (count, action) = state.withLock { state in
            state.sleeps.append(duration)
            state.now += duration / .seconds(1)
            state.uptime += duration
            return (state.sleeps.count, state.whenSleeping)
        }
        action?(count)
        await Task.yield()
        try Task.checkCancellation()
    }
}
