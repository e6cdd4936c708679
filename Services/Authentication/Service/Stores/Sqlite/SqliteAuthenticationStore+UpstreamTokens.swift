internal import Clocks
internal import Faults
internal import Foundation
internal import Storage

extension SqliteAuthenticationStore: UpstreamTokenStore {
    func start(_ session: SessionRecord, keeping tokens: UpstreamTokenRecord, now: Timestamp) async throws(Fault) -> Bool {
        defer { noteStart(of: session) }
        return try await store.write { database in
            if let record = session.record, try !database.use(record, now: now) { return false }
            try session.insert(into: database)
            try tokens.insert(into: database)
            return true
        }
    }

    func upstreamTokens(of session: SessionID) async throws(Fault) -> UpstreamTokenRecord? {
        try await store.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM upstream_token WHERE session_id = ?")
            return try Row.fetchOne(statement, arguments: [session]).map(UpstreamTokenRecord.init(row:))
        }
    }

    func claimRefresh(of session: SessionID, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool {
        try await store.write { database in
            let sql = """
                UPDATE upstream_token SET refreshing_until_ms = ?
                WHERE session_id = ? AND (refreshing_until_ms IS NULL OR refreshing_until_ms <= ?)
                """
            try database.cachedStatement(sql: sql).execute(arguments: [lease, session, now])
            return database.changesCount == 1
        }
    }

    func put(_ tokens: UpstreamTokenRecord, replacing before: [UInt8]?) async throws(Fault) -> Bool {
        try await store.write { database in
            let sql = """
                UPDATE upstream_token SET refresh_token = ?, access_token = ?, access_expires_at_ms = ?, refreshing_until_ms = NULL
                WHERE session_id = ? AND refresh_token IS ?
                """
            try database.cachedStatement(sql: sql).execute(arguments: [
                tokens.refreshToken.map { Data($0) }, Data(tokens.accessToken), tokens.accessExpiresAt, tokens.session, before.map { Data($0) },
            ])
            return database.changesCount == 1
        }
    }

    func endRefresh(of session: SessionID) async throws(Fault) {
        try await store.write { database in
            try database.cachedStatement(sql: "UPDATE upstream_token SET refreshing_until_ms = NULL WHERE session_id = ?").execute(arguments: [
                session
            ])
        }
    }
}

extension UpstreamTokenRecord {
    /// Beside its session, which is there already.
    func insert(into database: Database) throws {
        let sql = """
            INSERT INTO upstream_token (session_id, requestor, mvpd, refresh_token, access_token, access_expires_at_ms, expires_at_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        try database.cachedStatement(sql: sql).execute(arguments: [
            session, requestor, mvpd, refreshToken.map { Data($0) }, Data(accessToken), accessExpiresAt, expiresAt,
        ])
    }

    fileprivate init(row: Row) {
        let refresh: Data? = row["refresh_token"]
        let access: Data = row["access_token"]
        self.init(
            session: row["session_id"], requestor: row["requestor"], mvpd: row["mvpd"], refreshToken: refresh.map { [UInt8]($0) },
            accessToken: [UInt8](access), accessExpiresAt: row["access_expires_at_ms"], expiresAt: row["expires_at_ms"])
    }
}
