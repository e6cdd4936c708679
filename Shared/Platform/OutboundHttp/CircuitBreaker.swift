package import Clocks
internal import Synchronization

/// Keeps callers from waiting for an endpoint that fails (mvpd §4.3, bridge §5.3). With 20 or more calls and half or more of them failed in 30 s it
/// opens for 15 s. Then three probes decide. A denial is a success: the endpoint answered. A clock that is set back does not prolong that.
package struct CircuitBreaker: Sendable {
    package static let window: Duration = .seconds(30)
    package static let openFor: Duration = .seconds(15)
    package static let minimumCalls = 20
    package static let probeCount = 3

    /// The right of a caller; it is handed back with the outcome.
    package enum Permission: Hashable, Sendable {
        case call
        case probe
        case refused
    }

    package enum Outcome: Sendable {
        case success
        case failure
        /// The caller gave up; it says nothing of the endpoint.
        case abandoned
    }

    private struct Second {
        var start: Int64
        var calls = 0
        var failures = 0
    }

    private enum State {
        case closed
        case open(until: Timestamp)
        case probing(underWay: Int, succeeded: Int)
    }

    private var state = State.closed
    private var seconds: [Second] = []

    package init() {}

    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// How long it lets nobody through; `nil`: it is not open.
    package func rest(now: Timestamp) -> Duration? {
        guard case .open(let end) = state, now < end, end - now <= Self.openFor else { return nil }
        return end - now
    }

    package mutating func ask(now: Timestamp) -> Permission {
        switch state {
        case .closed: return .call
        case .open(let end) where now < end && end - now <= Self.openFor: return .refused
        case .open:
            state = .probing(underWay: 1, succeeded: 0)
            return .probe
        case .probing(let underWay, let succeeded):
            guard underWay + succeeded < Self.probeCount else { return .refused }
            state = .probing(underWay: underWay + 1, succeeded: succeeded)
            return .probe
        }
    }

    package mutating func record(_ outcome: Outcome, permission: Permission, now: Timestamp) {
        switch (permission, state) {
        case (.call, .closed): count(outcome, now)
        case (.probe, .probing(let underWay, let succeeded)): finishProbe(outcome, underWay - 1, succeeded, now)
        default: break
        }
    }

    private mutating func count(_ outcome: Outcome, _ now: Timestamp) {
        if case .abandoned = outcome { return }
        let oldest = now.seconds - Self.window.components.seconds
        seconds.removeAll { $0.start <= oldest || $0.start > now.seconds }
        if seconds.last?.start != now.seconds { seconds.append(Second(start: now.seconds)) }
        let last = seconds.count - 1
        seconds[last].calls += 1
        if case .failure = outcome { seconds[last].failures += 1 }
        let calls = seconds.reduce(0) { $0 + $1.calls }
        let failures = seconds.reduce(0) { $0 + $1.failures }
        if calls >= Self.minimumCalls, failures * 2 >= calls { open(now) }
    }

    private mutating func finishProbe(_ outcome: Outcome, _ underWay: Int, _ succeeded: Int, _ now: Timestamp) {
        switch outcome {
        case .failure: open(now)
        case .abandoned: state = .probing(underWay: underWay, succeeded: succeeded)
        case .success where succeeded + 1 == Self.probeCount: state = .closed
        case .success: state = .probing(underWay: underWay, succeeded: succeeded + 1)
        }
    }

    private mutating func open(_ now: Timestamp) {
        state = .open(until: now + Self.openFor)
        seconds = []
    }
}

/// One breaker per endpoint.
package final class CircuitBreakers: Sendable {
    private let breakers = Mutex<[OctetText: CircuitBreaker]>([:])

    package init() {}

    /// - Parameter endpoint: Its URL; there are as many as the catalogue has.
    package func ask(_ endpoint: String, now: Timestamp) -> CircuitBreaker.Permission {
        breakers.withLock { $0[endpoint, default: CircuitBreaker()].ask(now: now) }
    }

    /// True when callers are let through as ever.
    package func isClosed(_ endpoint: String) -> Bool { breakers.withLock { $0[OctetText(endpoint)]?.isClosed ?? true } }

    /// How long callers are turned away; `nil`: they are not, or only for probes that are under way.
    package func rest(_ endpoint: String, now: Timestamp) -> Duration? { breakers.withLock { $0[OctetText(endpoint)]?.rest(now: now) } }

    package func record(_ outcome: CircuitBreaker.Outcome, _ endpoint: String, permission: CircuitBreaker.Permission, now: Timestamp) {
        breakers.withLock { $0[endpoint, default: CircuitBreaker()].record(outcome, permission: permission, now: now) }
    }
}
