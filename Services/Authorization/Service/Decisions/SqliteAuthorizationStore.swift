public import Clocks
public import Faults
public import Storage

/// Authz tokens in the service's own SQLite file. Copies of the service on one machine may share it.
public struct SqliteAuthorizationStore: AuthorizationStore {
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
    ]

    /// What the program sweeps in the background.
    public static let sweeps = [Sweep(table: "authz_tokens", key: ["key"], expiryColumn: "expires_at_ms", grace: AuthzToken.remembrance)]

    /// Longest resource, in bytes, whose token is kept in memory: Media RSS may be long, and its sender chooses it.
    private static let longestCachedResource = 512

    private let store: Store
    private let tokens: CoherentCache<AuthzTokenKey, AuthzToken>

    /// - Parameters:
    ///   - store: Opened with `migrations`.
    ///   - cachedTokens: Kept in memory, at least 2.
    public init(_ store: Store, cachedTokens: Int = 65_536) {
        self.store = store
        tokens = CoherentCache(capacity: cachedTokens, changes: store.changes)
    }

    public func save(_ token: AuthzToken) async throws(Fault) {
        let key = token.key.digest
        defer { tokens.forget(token.key) }
        try await store.write { database in
            try database.run(
                """
                INSERT INTO authz_tokens (key, mvpd, proxy_mvpd, expires_at_ms, degradation_rule) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (key) DO UPDATE SET mvpd = excluded.mvpd, proxy_mvpd = excluded.proxy_mvpd,
                    expires_at_ms = excluded.expires_at_ms, degradation_rule = excluded.degradation_rule
                """, [key, token.mvpd, token.proxyMvpd, token.expiresAt, token.degradationRule])
        }
    }

    public func token(_ key: AuthzTokenKey) async throws(Fault) -> AuthzToken? {
        let epoch: CoherentCache<AuthzTokenKey, AuthzToken>.Epoch
        switch tokens.lookup(key) {
        case .hit(let token): return token
        case .miss(let current): epoch = current
        }
        let found = try await read(key)
        if let found, key.resource.utf8.count <= Self.longestCachedResource { tokens.offer(found, for: key, readIn: epoch) }
        return found
    }

    public func forget(expiredBefore moment: Timestamp) async throws(Fault) {
        defer { tokens.forgetAll() }
        try await store.write { try $0.run("DELETE FROM authz_tokens WHERE expires_at_ms <= ?", [moment]) }
    }

    private func read(_ key: AuthzTokenKey) async throws(Fault) -> AuthzToken? {
        let digest = key.digest
        return try await store.read { database in
            try database.first("SELECT mvpd, proxy_mvpd, expires_at_ms, degradation_rule FROM authz_tokens WHERE key = ?", [digest]) { columns in
                AuthzToken(
                    key: key, mvpd: columns.next(), proxyMvpd: columns.next(), expiresAt: columns.next(), degradationRule: columns.next())
            }
        }
    }
}
