internal import Clocks
internal import Faults
internal import Logging

/// Apple's keys as they are needed: one fetch at a time, whose result all callers share.
actor AppleKeys {
    private let apple: AppleIDClient
    private let store: any AppleKeyStore
    private let clock: any WallClock
    private let logger: Logger
    private var cache = AppleKeyCache()
    private var isRestored = false
    private var fetching: Task<Void, Never>?

    init(apple: AppleIDClient, store: any AppleKeyStore, clock: any WallClock, logger: Logger) {
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

/// Where they outlast a restart.
protocol AppleKeyStore: Sendable {
    func keptKeys() async throws(Fault) -> KeptAppleKeys?
    func keep(_ keys: KeptAppleKeys) async throws(Fault)
}

struct KeptAppleKeys: Sendable {
    let document: [UInt8]
    let fetchedAt: Timestamp
    let lifetime: Duration
}
