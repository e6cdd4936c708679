internal import Clocks

/// When Apple's keys are fetched, and how long they serve (apple §2.2 and §4). Pure: time is an argument, fetching is the caller's.
struct AppleKeyCache: Sendable {
    /// Without a `max-age`.
    static let standardLifetime: Duration = .seconds(86_400)
    /// For how long old keys serve while Apple is away.
    static let longestUse: Duration = .seconds(72 * 3_600)
    /// Between two fetches because of an unknown name, and after a failed one while old keys serve.
    static let pause: Duration = .seconds(60)
    /// After a failed fetch while there are no keys at all.
    static let shortPause: Duration = .seconds(5)

    /// What is known of a key's name.
    enum Finding: Sendable {
        case known(AppleKey)
        case unknown
        /// Apple gives no keys, and those at hand are too old or lack this one.
        case unavailable
    }

    enum Step: Sendable {
        case answer(Finding)
        /// Fetch, report `fetched` or `failed`, then `conclude`.
        case fetch
    }

    private struct Held {
        let keys: AppleKeySet
        let fetchedAt: Timestamp
        let lifetime: Duration
    }

    private var held: Held?
    /// The last fetch because of a name that is not in the set.
    private var refetchedAt: Timestamp?
    /// The last fetch because of a signature that failed. Strangers can cause both: neither takes the other's turn.
    private var doubtedAt: Timestamp?
    /// The last fetch, if it failed.
    private var failedAt: Timestamp?

    /// Keys kept from before a restart.
    mutating func restore(_ keys: AppleKeySet, fetchedAt: Timestamp, lifetime: Duration) {
        held = Held(keys: keys, fetchedAt: fetchedAt, lifetime: lifetime)
    }

    mutating func find(_ name: String, now: Timestamp) -> Step {
        guard let held, now < held.fetchedAt + held.lifetime else {
            let isDue = failedAt.map { Self.isOver($0, held == nil ? Self.shortPause : Self.pause, now) } ?? true
            return isDue ? .fetch : .answer(conclude(name, now: now))
        }
        if let key = held.keys.key(name) { return .answer(.known(key)) }
        guard refetchedAt.map({ Self.isOver($0, Self.pause, now) }) ?? true else { return .answer(conclude(name, now: now)) }
        refetchedAt = now
        return .fetch
    }

    /// Whether the keys may be fetched because a signature failed, at most once a minute: Apple may have replaced a key and kept its name.
    mutating func mayFetchAnew(now: Timestamp) -> Bool {
        guard doubtedAt.map({ Self.isOver($0, Self.pause, now) }) ?? true else { return false }
        doubtedAt = now
        return true
    }

    /// What is known after a fetch, or while none may be made.
    func conclude(_ name: String, now: Timestamp) -> Finding {
        guard let held, now <= held.fetchedAt + Self.longestUse else { return .unavailable }
        if let key = held.keys.key(name) { return .known(key) }
        return failedAt == nil ? .unknown : .unavailable
    }

    /// - Parameter maxAge: Of the answer's `Cache-Control`; `nil`: it named none.
    mutating func fetched(_ keys: AppleKeySet, maxAge: Duration?, now: Timestamp) {
        held = Held(keys: keys, fetchedAt: now, lifetime: maxAge ?? Self.standardLifetime)
        failedAt = nil
    }

    mutating func failed(now: Timestamp) { failedAt = now }

    private static func isOver(_ start: Timestamp, _ span: Duration, _ now: Timestamp) -> Bool { now >= start + span || now < start }
}
