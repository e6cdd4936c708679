internal import BridgeClient
public import Clocks
internal import Cryptography
public import Faults
public import Storage

/// Authz tokens in the service's own store, which copies of the service may share.
public struct SqlAuthorizationStore: AuthorizationStore {
    public static let migrations = [
        Migration(
            "1-authz-tokens",
            sql: """
                CREATE TABLE authz_tokens (
                    key TEXT NOT NULL PRIMARY KEY,
                    mvpd TEXT NOT NULL,
                    proxy_mvpd TEXT,
                    expires_at_ms INTEGER NOT NULL
                );
                CREATE INDEX authz_tokens_by_expiry ON authz_tokens (expires_at_ms);
                """),
        Migration("2-degraded-tokens", sql: "ALTER TABLE authz_tokens ADD COLUMN degradation_rule TEXT"),
        Migration(
            "3-copy-numbers",
            sql: """
                -- Who dates reference tokens in which zone, and from when on the next one may (Shared/Documents/Decisions/0019).
                CREATE TABLE copy_number (
                    service TEXT NOT NULL, number INTEGER NOT NULL, holder TEXT NOT NULL, until_ms INTEGER NOT NULL, given_ms INTEGER NOT NULL,
                    PRIMARY KEY (service, number)
                );
                """, isAdditive: true),
        Migration(
            "4-refusals",
            sql: """
                -- The last no of a session, for support (Shared/Documents/Decisions/0072).
                CREATE TABLE refusals (
                    session TEXT NOT NULL PRIMARY KEY, code TEXT NOT NULL, source INTEGER NOT NULL, refused_at_ms INTEGER NOT NULL
                );
                CREATE INDEX refusals_by_time ON refusals (refused_at_ms);
                """, isAdditive: true),
    ]

    /// The same tables in PostgreSQL. A new step of the file has one here by itself, under its own name.
    public static let postgresSteps = PostgresSteps(of: migrations, collated: .keys)
        .step("1-tables", through: "3-copy-numbers").step("2-refusals", through: "4-refusals").all

    /// The rows that the program sweeps in the background.
    public static let sweeps = [
        // Permits of upstreams end when their sessions do, and these were once kept as long as an upstream said.
        Sweep(
            table: "authz_tokens", key: ["key"], expiryColumn: "expires_at_ms", grace: AuthzToken.remembrance,
            farthest: Sweep.Limit(BridgedEnd.farthest)),
        Sweep(table: "refusals", key: ["session"], expiryColumn: "refused_at_ms", grace: NotedRefusal.remembrance),
    ]

    /// Longest resource, in bytes, whose token is kept in memory: Media RSS may be long, and its sender chooses it.
    private static let longestCachedResource = 512

    private let store: Store
    /// Where nobody tells of other copies' commits, those that count are good all the same.
    private let tokens: CoherentCache<AuthzTokenKey, AuthzToken>
    private let isCoherent: Bool

    /// - Parameters:
    ///   - store: Opened with `migrations` or `postgresSteps`.
    ///   - cachedTokens: Kept in memory, at least 2.
    public init(_ store: Store, cachedTokens: Int = 65_536) {
        self.store = store
        tokens = CoherentCache(capacity: cachedTokens, changes: store.changes)
        isCoherent = store.isCoherent
        store.watch(tokens, "tokens")
    }

    public func save(_ token: AuthzToken) async throws(Fault) {
        let key = token.key.digest
        defer { tokens.forget(token.key) }
        try await store.change(
            """
            INSERT INTO authz_tokens (key, mvpd, proxy_mvpd, expires_at_ms, degradation_rule) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET mvpd = excluded.mvpd, proxy_mvpd = excluded.proxy_mvpd,
                expires_at_ms = excluded.expires_at_ms, degradation_rule = excluded.degradation_rule
            """, [key, token.mvpd, token.proxyMvpd, token.expiresAt, token.degradationRule], of: key)
    }

    public func token(_ key: AuthzTokenKey, counts: (AuthzToken) -> Bool) async throws(Fault) -> AuthzToken? {
        let epoch: CoherentCache<AuthzTokenKey, AuthzToken>.Epoch
        switch tokens.lookup(key) {
        case .hit(let token):
            if isCoherent || counts(token) { return token }
            tokens.forget(key)
            guard case .miss(let current) = tokens.lookup(key) else { return try await read(key) }
            epoch = current
        case .miss(let current): epoch = current
        }
        let found = try await read(key)
        if let found, key.resource.utf8.count <= Self.longestCachedResource { tokens.offer(found, for: key, readIn: epoch) }
        return found
    }

    public func forget(expiredBefore moment: Timestamp) async throws(Fault) {
        defer { tokens.forgetAll() }
        try await store.change("DELETE FROM authz_tokens WHERE expires_at_ms <= ?", [moment])
    }

    public func forgetMemory() { tokens.forgetAll() }

    private func read(_ key: AuthzTokenKey) async throws(Fault) -> AuthzToken? {
        let digest = key.digest
        return try await store.first("SELECT mvpd, proxy_mvpd, expires_at_ms, degradation_rule FROM authz_tokens WHERE key = ?", [digest]) {
            columns in
            AuthzToken(
                key: key, mvpd: columns.next(), proxyMvpd: columns.next(), expiresAt: columns.next(), degradationRule: columns.next())
        }
    }
}

/// Authz tokens are kept here.
public protocol AuthorizationStore: Sendable {
    /// Keeps the token in place of an earlier one of the same key; durable when it returns.
    /// - Throws: `Fault` of the store.
    func save(_ token: AuthzToken) async throws(Fault)

    /// The token of that key, also when it has expired, as long as it is remembered.
    /// - Parameter counts: True when a token permits now. One that does may be an older one that is good still; any other answer is that of the
    ///   store.
    /// - Throws: `Fault` of the store.
    func token(_ key: AuthzTokenKey, counts: (AuthzToken) -> Bool) async throws(Fault) -> AuthzToken?

    /// Forgets tokens that expired at or before `moment`.
    /// - Throws: `Fault` of the store.
    func forget(expiredBefore moment: Timestamp) async throws(Fault)

    /// Forgets what memory knows of tokens: their keys name people there.
    func forgetMemory()
}

extension AuthorizationStore {
    /// For a store without memory.
    public func forgetMemory() {}

    /// The newest token of that key, also when it has expired, as long as it is remembered.
    /// - Throws: `Fault` of the store.
    public func token(_ key: AuthzTokenKey) async throws(Fault) -> AuthzToken? { try await token(key) { _ in false } }
}

/// A cached permit for one resource.
public struct AuthzToken: Hashable, Sendable {
    public var key: AuthzTokenKey
    public var mvpd: String
    /// Set when the MVPD is reached through another one.
    public var proxyMvpd: String?
    /// The first moment at which it no longer counts.
    public var expiresAt: Timestamp
    /// The degradation rule that permitted in the MVPD's place; the token ends with it (rest-v1 §6.1).
    public var degradationRule: String?

    public init(key: AuthzTokenKey, mvpd: String, proxyMvpd: String? = nil, expiresAt: Timestamp, degradationRule: String? = nil) {
        self.key = key
        self.mvpd = mvpd
        self.proxyMvpd = proxyMvpd
        self.expiresAt = expiresAt
        self.degradationRule = degradationRule
    }

    /// An expired token is remembered for this long, so that "expired" differs from "none" (rest-v1 §5).
    public static let remembrance: Duration = .seconds(24 * 3600)
}

extension AuthzToken {
    /// True when it counts now, for a session at that MVPD.
    func counts(at now: Timestamp, mvpd: String, _ degradation: Degradation) -> Bool {
        self.mvpd == mvpd && now < expiresAt && degradationRule.map(degradation.upholds) != false
    }
}

/// The key of a permit: bound to the session, so that a new sign-in or a logout ends it (rest-v1 §5).
public struct AuthzTokenKey: Hashable, Sendable {
    public let session: String
    public let device: String
    public let requestor: String
    public let resource: String

    public init(session: String, device: String, requestor: String, resource: String) {
        self.session = session
        self.device = device
        self.requestor = requestor
        self.resource = resource
    }

    /// 64 hex digits that stand for the key in a store, so that neither device ids nor long resources lie there.
    var digest: String {
        // Lengths keep different keys from running into the same bytes.
        let parts = [session, device, requestor, resource].map { "\($0.utf8.count):\($0)" }
        return Hex.encode(SHA256.hash(parts.joined()))
    }
}
