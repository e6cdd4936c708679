internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers
internal import Memos
internal import Synchronization

/// Values may be tried this often (apple §1.2). Remembers a bounded number of addresses and ids; of those over it the older ones are forgotten.
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

/// Counts events within a span that slides: the span before counts in as far as it still reaches into it.
struct RateWindow: Hashable, Sendable {
    private var start: Timestamp
    private var current = 0
    private var previous = 0

    init(now: Timestamp) { start = now }

    /// The number within the span, as far as two counters know.
    mutating func count(now: Timestamp, span: Duration) -> Int {
        turn(now, span)
        let elapsed = Double((now - start).wholeMilliseconds) / Double(span.wholeMilliseconds)
        return current + Int((Double(previous) * max(0, 1 - elapsed)).rounded(.down))
    }

    mutating func add(now: Timestamp, span: Duration) {
        turn(now, span)
        current += 1
    }

    /// Returns when the current span is over.
    func end(span: Duration) -> Timestamp { start + span }

    private mutating func turn(_ now: Timestamp, _ span: Duration) {
        // A clock that was set back begins anew.
        if now < start || now >= start + span + span {
            self = RateWindow(now: now)
        } else if now >= start + span {
            (previous, current, start) = (current, 0, start + span)
        }
    }
}

/// The idempotency keys of redeems. A repeated redemption of a value gives the same session, so no answer has to be kept. Only a key that comes back
/// with another request is refused.
final class RedeemKeys: Sendable {
    private let seen = Mutex(BoundedCache<Digest, (request: Digest, until: Timestamp)>(capacity: 65_536))

    /// - Throws: `idempotency_key_reused`.
    func claim(_ place: IdempotentPlace?, now: Timestamp) throws(Fault) {
        guard let place else { return }
        let isFree = seen.withLock { seen in
            if let known = seen[place.digest], now < known.until { return known.request == place.request }
            seen[place.digest] = (place.request, now + Idempotency.memory)
            return true
        }
        if !isFree { throw Idempotency.reused }
    }
}

/// Decides whether a value whose secret is right opens a session (apple §1.2).
enum RedeemRule {
    enum Verdict: Hashable, Sendable {
        /// - Parameters:
        ///   - isFirstSight: The device shows that the value is on the account: it becomes the active one.
        ///   - rotateSoon: It is active and older than 90 days.
        case accepted(isFirstSight: Bool, rotateSoon: Bool)
        case revoked
        /// Superseded, and its 72 hours are over.
        case replayed
        case wrongPlace
        case accountLocked
        case noLogin
    }

    /// The place where the device says that it found the value.
    struct Place: Hashable, Sendable {
        let bundleID: AppleClientID
        let environment: AppleEnvironment
    }

    static func verdict(
        _ version: TokenVersionRecord, of family: FamilyRecord, _ account: AccountRecord?, at place: Place, now: Timestamp
    ) -> Verdict {
        if family.isOver || family.idleAt.map({ $0 <= now }) ?? true { return .revoked }
        let accepted: Verdict
        switch version.state {
        case .revoked, .dropped: return .revoked
        case .superseded:
            guard let since = version.supersededAt, now < since + TokenVersionRecord.grace else { return .replayed }
            accepted = .accepted(isFirstSight: false, rotateSoon: false)
        case .pending: accepted = .accepted(isFirstSight: true, rotateSoon: false)
        case .active:
            let age = now - (version.activatedAt ?? version.createdAt)
            accepted = .accepted(isFirstSight: false, rotateSoon: age > TokenVersionRecord.rotationAge)
        }
        guard family.environment == place.environment, family.bundleID == place.bundleID else { return .wrongPlace }
        guard let account, account.closedAt == nil else { return .revoked }
        if account.isLocked { return .accountLocked }
        return account.logins.isEmpty ? .noLogin : accepted
    }
}
