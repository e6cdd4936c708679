internal import Octets
public import EntitlementClient
public import Foundation
internal import Synchronization

/// A device's clock that runs as the real one does, until a test sets it or lets time pass at once.
public final class SimulatedClock: ClientClock {
    private struct State {
        /// Seconds that the device's time is ahead of the real one.
        var ahead: TimeInterval
        /// Time that passed at once.
        var skipped: Duration = .zero
        var isHurried = false
        var sleepers: [Int: AsyncStream<Void>.Continuation] = [:]
        var count = 0
    }

    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// - Parameter now: The device's time at the start; default: the real one.
    public init(now: Date? = nil) { state = Mutex(State(ahead: now?.timeIntervalSinceNow ?? 0)) }

    public var now: Date { Date().addingTimeInterval(state.withLock { $0.ahead }) }
    public var uptime: Duration { ContinuousClock.now - start + state.withLock { $0.skipped } }

    /// Sets the device's clock wrong; no time passes.
    /// - Parameter seconds: Against the real time; negative: behind it.
    public func setAhead(_ seconds: TimeInterval) { state.withLock { $0.ahead = seconds } }

    /// Lets time pass at once: the device's time advances, and every sleep that is shorter ends.
    public func pass(_ duration: Duration) {
        change { state in
            state.ahead += duration / .seconds(1)
            state.skipped += duration
        }
    }

    /// While true, every sleep ends at once, with ``uptime`` advanced by its duration; the device's time does not change.
    public var isHurried: Bool {
        get { state.withLock { $0.isHurried } }
        set { change { $0.isHurried = newValue } }
    }

    public func sleep(for duration: Duration) async throws {
        let end = uptime + duration
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = enter(continuation)
        defer { leave(id) }
        var changes = stream.makeAsyncIterator()
        while true {
            try Task.checkCancellation()
            let rest = end - uptime
            guard rest > .zero else { return }
            if skip(rest) { return await Task.yield() }
            let alarm = Task {
                try? await Task.sleep(for: rest)
                continuation.yield()
            }
            _ = await changes.next()
            alarm.cancel()
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let sleepers = state.withLock { state in
            change(&state)
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.yield() }
    }

    /// - Returns: False when time passes as usual.
    private func skip(_ rest: Duration) -> Bool {
        state.withLock { state in
            guard state.isHurried else { return false }
            state.skipped += rest
            return true
        }
    }

    private func enter(_ sleeper: AsyncStream<Void>.Continuation) -> Int {
        state.withLock { state in
            state.count += 1
            state.sleepers[state.count] = sleeper
            return state.count
        }
    }

    private func leave(_ id: Int) { state.withLock { _ = $0.sleepers.removeValue(forKey: id) } }
}
