internal import Clocks
internal import Faults
internal import Storage

/// Logins that other devices of the same platform identity may take over (rest-v1 §4.9).
extension SqliteAuthenticationStore {
    func sessions(of identity: PlatformIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        try await store.read { database in
            let sql = "SELECT \(SessionRecord.columns) FROM session WHERE identity = ? AND expires_at_ms > ?"
            return try database.all(sql, arguments: [identity, now]) { try SessionRecord(columns: &$0) }
        }
    }

    func lastLogout(_ key: SessionKey, now: Timestamp) async throws(Fault) -> Timestamp? {
        try await store.read { database in
            let sql = "SELECT logged_out_at_ms FROM logout WHERE device_id = ? AND requestor = ? AND expires_at_ms > ?"
            return try Timestamp.fetchOne(database.cachedStatement(sql: sql), arguments: [key.device, key.requestor, now])
        }
    }

    /// Kept until the last login that there is now has expired: a later one is not shut out by it.
    static func remember(logoutOf key: SessionKey, _ database: Database, _ now: Timestamp) throws {
        let sql = """
            INSERT OR REPLACE INTO logout (device_id, requestor, logged_out_at_ms, expires_at_ms)
            SELECT ?, ?, ?, latest FROM (SELECT max(expires_at_ms) AS latest FROM session WHERE identity IS NOT NULL) WHERE latest > ?
            """
        try database.cachedStatement(sql: sql).execute(arguments: [key.device, key.requestor, now, now])
    }
}
