package import Clocks
package import Faults
package import Storage

/// Logins that other devices of the same platform identity, or of the person of a service token, may take over (rest-v1 §4.9, rest-v2 §5 J).
extension SqliteAuthenticationStore {
    package func sessions(of identity: PlatformIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        let live: Statement = "SELECT \(SessionRecord.columns) FROM session WHERE identity = ? AND expires_at_ms > ?"
        return living(try await store.all(live, [identity, now]) { try SessionRecord(columns: &$0) })
    }

    package func sessions(of identity: ServiceIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        let live: Statement = "SELECT \(SessionRecord.columns) FROM session WHERE service_identity = ? AND expires_at_ms > ?"
        return living(try await store.all(live, [identity, now]) { try SessionRecord(columns: &$0) })
    }

    package func lastLogout(_ key: SessionKey, now: Timestamp) async throws(Fault) -> Timestamp? {
        try await store.value(
            "SELECT logged_out_at_ms FROM logout WHERE device_id = ? AND requestor = ? AND expires_at_ms > ?", [key.device, key.requestor, now])
    }

    /// Kept until the last login that there is now has expired: a later one is not shut out by it.
    package static func remember(logoutOf key: SessionKey, _ database: Database, _ now: Timestamp) throws {
        try database.run(logout, [key.device, key.requestor, now])
    }

    /// As `remember(logoutOf:)`.
    static func addLogout(of key: SessionKey, to plan: inout Plan, _ now: Timestamp) { plan.add(logout, [key.device, key.requestor, now]) }

    private static let logout: Statement = """
        INSERT INTO logout (device_id, requestor, logged_out_at_ms, expires_at_ms)
        SELECT ?1, ?2, ?3, latest FROM (
            SELECT max(expires_at_ms) AS latest FROM (
                SELECT max(expires_at_ms) AS expires_at_ms FROM session WHERE identity IS NOT NULL
                UNION ALL SELECT max(expires_at_ms) AS expires_at_ms FROM session WHERE service_identity IS NOT NULL
            ) AS named
        ) AS login WHERE latest > ?3
        ON CONFLICT (device_id, requestor) DO UPDATE SET logged_out_at_ms = excluded.logged_out_at_ms, expires_at_ms = excluded.expires_at_ms
        """
}
