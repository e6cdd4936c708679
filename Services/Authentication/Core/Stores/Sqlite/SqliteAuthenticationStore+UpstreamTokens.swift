package import Clocks
package import Faults
package import Storage

extension SqliteAuthenticationStore: UpstreamTokenStore {
    package func start(_ session: SessionRecord, keeping tokens: UpstreamTokenRecord, now: Timestamp) async throws(Fault) -> Bool {
        defer { noteStart(of: session) }
        let stored = try await store.commit { () throws(Fault) in
            var plan = try session.plan(now: now)
            plan.add(UpstreamTokenRecord.insertion, tokens.values)
            return plan
        }
        if stored != nil { return true }
        return try await starting(session) { database in
            guard let code = try database.use(codeOf: session, now: now) else { return Start(false) }
            try session.insert(into: database)
            try tokens.insert(into: database)
            return Start(true, using: code.code)
        }
    }

    package func upstreamTokens(of session: SessionID) async throws(Fault) -> UpstreamTokenRecord? {
        try await store.first("SELECT \(UpstreamTokenRecord.columns) FROM upstream_token WHERE session_id = ?", [session]) {
            UpstreamTokenRecord(columns: &$0)
        }
    }

    package func identityTokens(at key: SessionKey) async throws(Fault) -> [SessionID: [UInt8]] {
        let named: Statement = """
            SELECT upstream_token.session_id, upstream_token.identity_token FROM session JOIN upstream_token ON upstream_token.session_id = session.id
            WHERE session.device_id = ? AND session.requestor = ? AND upstream_token.identity_token IS NOT NULL
            """
        let found = try await store.all(named, [key.device, key.requestor]) { ($0.next() as SessionID, $0.next() as [UInt8]) }
        return Dictionary(found) { $1 }
    }

    package func claimRefresh(of session: SessionID, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool {
        try await store.change(
            """
            UPDATE upstream_token SET refreshing_until_ms = ?
            WHERE session_id = ? AND (refreshing_until_ms IS NULL OR refreshing_until_ms <= ?)
            """, [lease, session, now]) == 1
    }

    package func put(_ tokens: UpstreamTokenRecord, replacing before: [UInt8]?) async throws(Fault) -> Bool {
        try await store.change(
            """
            UPDATE upstream_token SET refresh_token = ?, access_token = ?, access_expires_at_ms = ?, refreshing_until_ms = NULL
            WHERE session_id = ? AND refresh_token IS NOT DISTINCT FROM ?
            """, [tokens.refreshToken, tokens.accessToken, tokens.accessExpiresAt, tokens.session, before]) == 1
    }

    package func endRefresh(of session: SessionID) async throws(Fault) {
        try await store.change("UPDATE upstream_token SET refreshing_until_ms = NULL WHERE session_id = ?", [session])
    }
}

extension UpstreamTokenRecord {
    /// Beside its session, which is there already.
    package func insert(into database: Database) throws { try database.run(Self.insertion, values) }

    fileprivate static let insertion: Statement = "INSERT INTO upstream_token (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    fileprivate var values: Arguments { [session, requestor, mvpd, refreshToken, accessToken, accessExpiresAt, expiresAt, identityToken] }

    /// In the order in which they are read and written.
    fileprivate static let columns = "session_id, requestor, mvpd, refresh_token, access_token, access_expires_at_ms, expires_at_ms, identity_token"

    fileprivate init(columns: inout ColumnReader) {
        self.init(
            session: columns.next(), requestor: columns.next(), mvpd: columns.next(), refreshToken: columns.next(), accessToken: columns.next(),
            accessExpiresAt: columns.next(), expiresAt: columns.next(), identityToken: columns.next())
    }
}
