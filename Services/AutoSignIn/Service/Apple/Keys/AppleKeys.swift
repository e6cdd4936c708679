internal import Clocks
package import Cryptography
internal import Faults
internal import Logging
internal import Tokens

/// Apple's keys as they are needed: one fetch at a time, whose result all callers share.
actor AppleKeys {
    private let apple: AppleIDClient
    private let store: AutoSignInStore
    private let clock: any WallClock
    private let logger: Logger
    private var cache = AppleKeyCache()
    private var isRestored = false
    private var fetching: Task<Void, Never>?

    init(apple: AppleIDClient, store: AutoSignInStore, clock: any WallClock, logger: Logger) {
        self.apple = apple
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// - Returns: `nil` when Apple publishes no such key.
    /// - Throws: `apple_unavailable` when Apple gives none and those at hand are too old, or lack this one.
    func key(_ name: String) async throws(Fault) -> AppleKey? {
        await restore()
        switch cache.find(name, now: clock.now()) {
        case .answer(.known(let key)): return key
        // A fetch that is under way may bring it.
        case .answer(let finding) where fetching == nil: return try Self.key(finding)
        case .answer, .fetch: await fetch()
        }
        return try Self.key(cache.conclude(name, now: clock.now()))
    }

    /// The key of that name after another fetch, for a token whose signature failed with the one at hand.
    /// - Returns: `nil` where Apple was asked anew less than a minute ago, does not answer now, or publishes no such key.
    func newerKey(_ name: String) async -> AppleKey? {
        guard fetching != nil || cache.mayFetchAnew(now: clock.now()) else { return nil }
        await fetch()
        guard case .known(let key) = cache.conclude(name, now: clock.now()) else { return nil }
        return key
    }

    private static func key(_ finding: AppleKeyCache.Finding) throws(Fault) -> AppleKey? {
        switch finding {
        case .known(let key): return key
        case .unknown: return nil
        case .unavailable: throw .appleIsAway
        }
    }

    private func restore() async {
        guard !isRestored else { return }
        isRestored = true
        guard let kept = try? await store.keptKeys(), let keys = AppleKeySet(document: kept.document) else { return }
        cache.restore(keys, fetchedAt: kept.fetchedAt, lifetime: kept.lifetime)
    }

    private func fetch() async {
        if let fetching { return await fetching.value }
        let task = Task { await fetchOnce() }
        fetching = task
        await task.value
        fetching = nil
    }

    private func fetchOnce() async {
        do throws(Fault) {
            let published = try await apple.fetchKeys()
            guard let keys = AppleKeySet(document: published.document), !keys.isEmpty else { throw .appleIsAway }
            let now = clock.now()
            cache.fetched(keys, maxAge: published.maxAge, now: now)
            try await store.keep(
                KeptAppleKeys(document: published.document, fetchedAt: now, lifetime: published.maxAge ?? AppleKeyCache.standardLifetime))
        } catch {
            // Keys that cannot be kept on disk serve all the same.
            if error.code == .appleUnavailable { cache.failed(now: clock.now()) }
            logger.warning("apple.keys_not_fetched", metadata: ["reason": "\(error.code)"])
        }
    }
}

/// The answer of `auth/keys`.
struct PublishedAppleKeys: Sendable {
    let document: [UInt8]
    /// `max-age` of `Cache-Control`.
    let maxAge: Duration?
}

struct KeptAppleKeys: Sendable {
    let document: [UInt8]
    let fetchedAt: Timestamp
    let lifetime: Duration
}

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

    /// The known facts about a key's name.
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

    /// True when the keys may be fetched because a signature failed, at most once a minute. Apple may have replaced a key and kept its name.
    mutating func mayFetchAnew(now: Timestamp) -> Bool {
        guard doubtedAt.map({ Self.isOver($0, Self.pause, now) }) ?? true else { return false }
        doubtedAt = now
        return true
    }

    /// The finding after a fetch, or while none may be made.
    func conclude(_ name: String, now: Timestamp) -> Finding {
        guard let held, now <= held.fetchedAt + Self.longestUse else { return .unavailable }
        if let key = held.keys.key(name) { return .known(key) }
        return failedAt == nil ? .unknown : .unavailable
    }

    /// - Parameter maxAge: The age limit in the answer's `Cache-Control`; `nil`: it named none.
    mutating func fetched(_ keys: AppleKeySet, maxAge: Duration?, now: Timestamp) {
        held = Held(keys: keys, fetchedAt: now, lifetime: maxAge ?? Self.standardLifetime)
        failedAt = nil
    }

    mutating func failed(now: Timestamp) { failedAt = now }

    private static func isOver(_ start: Timestamp, _ span: Duration, _ now: Timestamp) -> Bool { now >= start + span || now < start }
}

/// Apple's published keys of one name.
package enum AppleKey: Sendable {
    /// Those behind the first are tried after it: a name may stand for several (RFC 7517 §4.5).
    case usable(RSAPublicKey, others: [RSAPublicKey] = [])
    /// Below 2048 bits: whatever it signed is refused (apple §2.2, V4).
    case weak
}

/// Apple's keys by name (RFC 7517 §5; apple §2.1).
package struct AppleKeySet: Sendable {
    /// Keys that are tried for one token.
    private static let mostKeys = 4

    private let keys: [OctetText: AppleKey]

    package init(_ keys: [String: AppleKey]) { self.keys = Dictionary(texts: keys.map { ($0.key, $0.value) }) { first, _ in first } }

    /// Reads the document at `auth/keys`. Keys of other kinds and broken ones are passed over, so that they do not take the good ones along.
    /// - Returns: `nil` when it is no JWK set.
    package init?(document: [UInt8]) {
        guard let set = try? JSONWebKeySet(published: document) else { return nil }
        var keys: [OctetText: AppleKey] = [:]
        for name in set.weak { keys[name] = .weak }
        var usable: [OctetText: [RSAPublicKey]] = [:]
        for key in set.keys {
            guard case .rsa(let rsa) = key.publicKey, key.algorithm == .rs256 else { continue }
            usable[OctetText(key.identifier), default: []].append(rsa)
        }
        for (name, list) in usable { keys[name] = .usable(list[0], others: Array(list[1...].prefix(Self.mostKeys - 1))) }
        self.keys = keys
    }

    package func key(_ name: String) -> AppleKey? { keys[name] }

    var isEmpty: Bool { keys.isEmpty }
}
