internal import Clocks
internal import Faults
internal import Storage
internal import Synchronization

/// How often values may be tried (apple §1.2). Remembers a bounded number of addresses and ids; of those over it the older ones are forgotten.
final class RedeemLimits: Sendable {
    private struct State {
        var addresses = BoundedCache<String, RateWindow>(capacity: 65_536)
        var failures = BoundedCache<TokenID, RateWindow>(capacity: 65_536)
    }

    private let perMinute: Int
    private let state = Mutex(State())

    static let minute: Duration = .seconds(60)
    static let hour: Duration = .seconds(3600)
    /// Wrong secrets for one id within an hour.
    static let failuresPerHour = 5

    /// - Parameter perMinute: Redeems of one address.
    init(perMinute: Int) { self.perMinute = perMinute }

    /// Counts a redeem.
    /// - Throws: `rate_limited`.
    func admit(address: String, now: Timestamp) throws(Fault) {
        let wait = state.withLock { state -> Duration? in
            var window = state.addresses[address] ?? RateWindow(now: now)
            guard window.count(now: now, span: Self.minute) < perMinute else { return window.end(span: Self.minute) - now }
            window.add(now: now, span: Self.minute)
            state.addresses[address] = window
            return nil
        }
        if let wait { throw Self.limited(wait) }
    }

    /// Counts a wrong secret; whether there is a value of that id does not matter, and a right secret is never asked here.
    /// - Throws: `rate_limited` from the sixth within an hour on.
    func fail(_ id: TokenID, now: Timestamp) throws(Fault) {
        let wait = state.withLock { state -> Duration? in
            var window = state.failures[id] ?? RateWindow(now: now)
            guard window.count(now: now, span: Self.hour) < Self.failuresPerHour else { return window.end(span: Self.hour) - now }
            window.add(now: now, span: Self.hour)
            state.failures[id] = window
            return nil
        }
        if let wait { throw Self.limited(wait) }
    }

    private static func limited(_ wait: Duration) -> Fault {
        Fault(.rateLimited, "Too many attempts.", retryAfter: max(.seconds(1), wait))
    }
}
