package import Clocks
internal import Synchronization

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

    package func record(_ outcome: CircuitBreaker.Outcome, _ endpoint: String, permission: CircuitBreaker.Permission, now: Timestamp) {
        breakers.withLock { $0[endpoint, default: CircuitBreaker()].record(outcome, permission: permission, now: now) }
    }
}
