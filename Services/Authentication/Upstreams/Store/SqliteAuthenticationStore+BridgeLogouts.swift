package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
internal import Storage

/// Logouts that upstreams have to hear of.
extension SqliteAuthenticationStore {
    package func remember(logoutsOf sessions: [SessionID], now: Timestamp, firstTry: Timestamp) async throws(Fault) {
        defer { for session in sessions { parts.forget(session) } }
        try await store.write { database in
            for session in sessions {
                // What a token of the platform's names later, and is older, signs nobody in (bridge §8.1).
                try database.run(
                    """
                    INSERT INTO logout (device_id, requestor, logged_out_at_ms, expires_at_ms)
                    SELECT device_id, requestor, ?1, expires_at_ms FROM bridge_session WHERE session_id = ?2 AND expires_at_ms > ?1
                    ON CONFLICT (device_id, requestor) DO UPDATE SET logged_out_at_ms = excluded.logged_out_at_ms,
                        expires_at_ms = CASE WHEN logout.expires_at_ms > excluded.expires_at_ms THEN logout.expires_at_ms ELSE excluded.expires_at_ms END
                    """, [now, session])
                try database.run(
                    """
                    UPDATE bridge_session SET logout_ms = ?, next_try_ms = ? WHERE session_id = ? AND logout_ms = 0 AND kind NOT IN ('temporary', 'degraded')
                    """, [now, firstTry, session])
                try database.run("DELETE FROM bridge_session WHERE session_id = ? AND logout_ms = 0", [session])
            }
        }
    }

    package func remember(logoutOf part: BridgedPart, now: Timestamp) async throws(Fault) {
        let values = try part.values
        try await store.write { database in
            try database.run(BridgedPart.insertion, values)
            try database.run("UPDATE bridge_session SET logout_ms = ?, next_try_ms = ? WHERE session_id = ?", [now, now, part.session])
        }
    }

    package func rememberOrphans(now: Timestamp) async throws(Fault) -> Int {
        try await store.change(
            """
            UPDATE bridge_session SET logout_ms = ?1, next_try_ms = ?1 WHERE logout_ms = 0 AND is_suspect <> 3 AND expires_at_ms > ?1
                AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = bridge_session.session_id)
            """, [now], of: "bridge_session")
    }

    package func dueLogouts(now: Timestamp, most: Int) async throws(Fault) -> [BridgeLogout] {
        let due: Statement = """
            SELECT \(BridgedPart.columns), tries FROM bridge_session WHERE logout_ms > 0 AND next_try_ms <= ? AND expires_at_ms > ?
            ORDER BY next_try_ms LIMIT ?
            """
        return try await store.all(due, [now, now, most]) { BridgeLogout(part: try BridgedPart(columns: &$0), tries: Int($0.next() as Int64)) }
    }

    package func openLogouts(of sessions: [SessionID], now: Timestamp) async throws(Fault) -> [BridgeLogout] {
        let open: Statement = """
            SELECT \(BridgedPart.columns), tries FROM bridge_session WHERE session_id = ? AND logout_ms > 0 AND expires_at_ms > ?
            """
        var found: [BridgeLogout] = []
        for session in sessions {
            found += try await store.all(open, [session, now]) { BridgeLogout(part: try BridgedPart(columns: &$0), tries: Int($0.next() as Int64)) }
        }
        return found
    }

    package func openLogouts(of key: SessionKey, upstream: String, mvpd: String, now: Timestamp) async throws(Fault) -> [BridgeLogout] {
        let open: Statement = """
            SELECT \(BridgedPart.columns), tries FROM bridge_session
            WHERE device_id = ? AND requestor = ? AND upstream = ? AND their_mvpd = ? AND logout_ms > 0 AND expires_at_ms > ? LIMIT 8
            """
        return try await store.all(open, [key.device, key.requestor, upstream, mvpd, now]) {
            BridgeLogout(part: try BridgedPart(columns: &$0), tries: Int($0.next() as Int64))
        }
    }

    package func postpone(_ logout: BridgeLogout, until moment: Timestamp) async throws(Fault) {
        try await store.change(
            "UPDATE bridge_session SET next_try_ms = ?, tries = tries + 1 WHERE session_id = ?", [moment, logout.part.session],
            of: logout.part.session.text)
    }

    package func hastenLogouts(at upstream: String, now: Timestamp) async throws(Fault) {
        try await store.change(
            "UPDATE bridge_session SET next_try_ms = ?1 WHERE logout_ms > 0 AND next_try_ms > ?1 AND upstream = ?2", [now, upstream], of: upstream)
    }

    package func finish(_ logout: BridgeLogout) async throws(Fault) {
        try await store.change(
            "DELETE FROM bridge_session WHERE session_id = ? AND logout_ms > 0", [logout.part.session], of: logout.part.session.text)
    }
}
