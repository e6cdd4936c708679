package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
internal import Storage

/// Clients of upstreams, and what they list.
extension SqlAuthenticationStore: UpstreamStore {
    package func bridgeSlot(_ name: UpstreamSlotName) async throws(Fault) -> UpstreamSlotRecord? {
        let found: Statement = """
            SELECT client_id, secret, scopes, bearer, bearer_end_ms, bearer_life_s FROM bridge_slot WHERE name = ? AND client_id <> ''
            """
        return try await store.first(found, [name.text]) { columns in
            let (clientID, secret): (String, [UInt8]) = (columns.next(), columns.next())
            let scopes: String = columns.next()
            return UpstreamSlotRecord(
                name: name, clientID: clientID, secret: secret, scopes: scopes.split(separator: " ").map(String.init), bearer: columns.next(),
                bearerEnd: columns.next(), bearerLifeSeconds: columns.next())
        }
    }

    package func claimBridgeSlot(_ name: UpstreamSlotName, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool {
        let end = now + UpstreamSlotRecord.unusedLife
        return try await store.change(
            """
            INSERT INTO bridge_slot (name, upstream, client_id, secret, scopes, bearer, bearer_end_ms, bearer_life_s, lease_until_ms, expires_at_ms)
            VALUES (?1, ?2, '', ?3, '', ?3, 0, 0, ?4, ?5)
            ON CONFLICT (name) DO UPDATE SET lease_until_ms = excluded.lease_until_ms
            WHERE bridge_slot.lease_until_ms <= ?6 AND bridge_slot.client_id = ''
            """, [name.text, name.upstream, [] as [UInt8], lease, end, now], of: name.text) == 1
    }

    package func bridgeClaim(_ name: UpstreamSlotName) async throws(Fault) -> Timestamp? {
        let claimed: Statement = "SELECT lease_until_ms FROM bridge_slot WHERE name = ? AND client_id = '' AND lease_until_ms > 0"
        return try await store.first(claimed, [name.text]) { $0.next() }
    }

    package func takeBridgeClaim(_ name: UpstreamSlotName, from former: Timestamp, until lease: Timestamp) async throws(Fault) -> Bool {
        try await store.change(
            "UPDATE bridge_slot SET lease_until_ms = ? WHERE name = ? AND lease_until_ms = ? AND client_id = ''", [lease, name.text, former],
            of: name.text) == 1
    }

    package func keep(_ slot: UpstreamSlotRecord, claimedUntil lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool {
        try await store.change(
            """
            UPDATE bridge_slot SET client_id = ?, secret = ?, scopes = ?, lease_until_ms = 0, expires_at_ms = ?
            WHERE name = ? AND lease_until_ms = ? AND client_id = ''
            """,
            [
                slot.clientID, slot.secret, slot.scopes.joined(separator: " "), now + UpstreamSlotRecord.unusedLife, slot.name.text, lease,
            ], of: slot.name.text) == 1
    }

    package func releaseBridgeSlot(_ name: UpstreamSlotName, until lease: Timestamp) async throws(Fault) {
        _ = try await store.change(
            "UPDATE bridge_slot SET lease_until_ms = 0 WHERE name = ? AND lease_until_ms = ? AND client_id = ''", [name.text, lease], of: name.text)
    }

    package func keep(_ slot: UpstreamSlotRecord, now: Timestamp) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO bridge_slot (name, upstream, client_id, secret, scopes, bearer, bearer_end_ms, bearer_life_s, lease_until_ms, expires_at_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
            ON CONFLICT (name) DO UPDATE SET client_id = excluded.client_id, secret = excluded.secret, scopes = excluded.scopes,
                bearer = excluded.bearer, bearer_end_ms = excluded.bearer_end_ms, bearer_life_s = excluded.bearer_life_s, lease_until_ms = 0,
                expires_at_ms = excluded.expires_at_ms
            """,
            [
                slot.name.text, slot.name.upstream, slot.clientID, slot.secret, slot.scopes.joined(separator: " "), slot.bearer, slot.bearerEnd,
                slot.bearerLifeSeconds, now + UpstreamSlotRecord.unusedLife,
            ], of: slot.name.text)
    }

    package func dropBridgeSlot(_ name: UpstreamSlotName, asideUntil end: Timestamp?, now: Timestamp) async throws(Fault) -> Int {
        let keys: [SessionKey] = try await store.write { database in
            if let end {
                try database.run(
                    """
                    INSERT INTO bridge_lost_slot (name, device, upstream, client_id, secret, scopes, lost_at_ms, expires_at_ms)
                    SELECT name, ?2, upstream, client_id, secret, scopes, ?3, ?4 FROM bridge_slot WHERE name = ?1 AND client_id <> ''
                    ON CONFLICT (name) DO UPDATE SET client_id = excluded.client_id, secret = excluded.secret, scopes = excluded.scopes,
                        lost_at_ms = excluded.lost_at_ms, expires_at_ms = excluded.expires_at_ms
                    """, [name.text, name.device, now, end])
            } else {
                try database.run("DELETE FROM bridge_lost_slot WHERE name = ?", [name.text])
            }
            try database.run("DELETE FROM bridge_slot WHERE name = ?", [name.text])
            // Nobody can tell upstream of a logout any more; and what is over is over.
            try database.run(
                """
                DELETE FROM bridge_session WHERE slot = ?1 AND (logout_ms > 0 OR is_suspect < 3 AND (expires_at_ms <= ?2
                    OR NOT EXISTS (SELECT 1 FROM session WHERE session.id = bridge_session.session_id)))
                """, [name.text, now])
            let keys = try database.all("SELECT device_id, requestor FROM bridge_session WHERE slot = ? AND is_suspect < 3", [name.text]) {
                SessionKey(device: $0.next(), requestor: $0.next())
            }
            try database.run("DELETE FROM session WHERE id IN (SELECT session_id FROM bridge_session WHERE slot = ?)", [name.text])
            try database.run(
                """
                UPDATE bridge_session SET expires_at_ms = CASE WHEN is_suspect < 3 THEN ?1 ELSE expires_at_ms END, is_suspect = 4,
                    attributes = ?2, encrypted_names = '' WHERE slot = ?3
                """, [now, [] as [UInt8], name.text])
            return keys
        }
        for key in keys {
            memory.forget(key)
            gone.forget(key)
        }
        parts.forgetAll()
        return keys.count
    }

    package func lostBridgeSlot(_ name: UpstreamSlotName, now: Timestamp) async throws(Fault) -> (slot: UpstreamSlotRecord, at: Timestamp)? {
        let found: Statement = "SELECT client_id, secret, scopes, lost_at_ms FROM bridge_lost_slot WHERE name = ? AND expires_at_ms > ?"
        return try await store.first(found, [name.text, now]) { columns in
            let (clientID, secret): (String, [UInt8]) = (columns.next(), columns.next())
            let scopes: String = columns.next()
            let slot = UpstreamSlotRecord(name: name, clientID: clientID, secret: secret, scopes: scopes.split(separator: " ").map(String.init))
            return (slot, columns.next())
        }
    }

    // MARK: Numbers

    package func bridgeHoldings(_ upstream: String, listsSince oldest: Timestamp, now: Timestamp) async throws(Fault) -> UpstreamHoldings {
        // A device's own has 64 hex digits after the last slash.
        let clients: Statement = """
            SELECT COUNT(*), COALESCE(SUM(CASE WHEN length(name) > 65 AND substr(name, length(name) - 64, 1) = '/'
                AND substr(name, length(name) - 63) NOT LIKE '%/%' THEN 1 ELSE 0 END), 0)
            FROM bridge_slot WHERE upstream = ? AND client_id <> ''
            """
        let logouts: Statement = "SELECT COUNT(*) FROM bridge_session WHERE upstream = ? AND logout_ms > 0 AND expires_at_ms > ?"
        let lists: Statement = "SELECT COALESCE(MIN(listed_at_ms), 0) FROM bridge_list WHERE substr(place, 1, length(?1)) = ?1 AND listed_at_ms >= ?2"
        var holdings = UpstreamHoldings()
        let counts: (Int64, Int64)? = try await store.first(clients, [upstream]) { ($0.next(), $0.next()) }
        (holdings.clients, holdings.deviceClients) = (Int(counts?.0 ?? 0), Int(counts?.1 ?? 0))
        holdings.openLogouts = Int(try await store.first(logouts, [upstream, now]) { $0.next() as Int64 } ?? 0)
        let listed: Timestamp? = try await store.first(lists, ["\(upstream)/", oldest]) { $0.next() }
        holdings.oldestList = listed.flatMap { $0.milliseconds == 0 ? nil : $0 }
        return holdings
    }

    package func bridgeCounts(patience: Duration, now: Timestamp) async throws(Fault) -> [OctetText: UpstreamCounts] {
        let clients: Statement = """
            SELECT upstream, SUM(CASE WHEN client_id <> '' AND bearer_end_ms > ?1 THEN 1 ELSE 0 END),
                SUM(CASE WHEN client_id <> '' AND bearer_end_ms <= ?1 THEN 1 ELSE 0 END), SUM(CASE WHEN client_id = '' THEN 1 ELSE 0 END)
            FROM bridge_slot GROUP BY upstream
            """
        let logouts: Statement = """
            SELECT upstream, COUNT(*) FROM bridge_session WHERE logout_ms > 0 AND logout_ms <= ?1 AND expires_at_ms > ?2 GROUP BY upstream
            """
        var counts: [OctetText: UpstreamCounts] = [:]
        let found: [(String, Int64, Int64, Int64)] = try await store.all(clients, [now]) { ($0.next(), $0.next(), $0.next(), $0.next()) }
        for (upstream, ready, idle, unregistered) in found {
            counts[OctetText(upstream)] = UpstreamCounts(
                readyClients: Int(ready), idleClients: Int(idle), unregisteredClients: Int(unregistered))
        }
        let waiting: [(String, Int64)] = try await store.all(logouts, [now - patience, now]) { ($0.next(), $0.next()) }
        for (upstream, count) in waiting { counts[OctetText(upstream), default: UpstreamCounts()].waitingLogouts = Int(count) }
        return counts
    }

    // MARK: Lists

    package func keep(list: [UInt8], _ key: String, at moment: Timestamp) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO bridge_list (place, content, listed_at_ms) VALUES (?, ?, ?)
            ON CONFLICT (place) DO UPDATE SET content = excluded.content, listed_at_ms = excluded.listed_at_ms
            """, [key, list, moment], of: key)
    }

    package func list(_ key: String) async throws(Fault) -> (content: [UInt8], at: Timestamp)? {
        try await store.first("SELECT content, listed_at_ms FROM bridge_list WHERE place = ?", [key]) { ($0.next(), $0.next()) }
    }
}

/// Logouts that upstreams have to hear of.
extension SqlAuthenticationStore {
    package func remember(logoutsOf sessions: [SessionID], now: Timestamp, firstTry: Timestamp) async throws(Fault) {
        defer { for session in sessions { parts.forget(session) } }
        try await store.write { database in
            for session in sessions { try database.remember(logoutOf: session, now: now, firstTry: firstTry) }
        }
    }

    package func remember(logoutOf part: UpstreamPart, of pendings: [SecretDigest], now: Timestamp) async throws(Fault) {
        let values = try part.values
        try await store.write { database in
            var open = 0
            for pending in pendings { open += try database.run("UPDATE bridge_pending SET state = 1 WHERE handle = ? AND state <> 1", [pending]) }
            guard open > 0 else { return }
            try database.run(UpstreamPart.insertion, values)
            try database.run("UPDATE bridge_session SET logout_ms = ?, next_try_ms = ? WHERE session_id = ?", [now, now, part.session])
        }
    }

    package func rememberOrphans(now: Timestamp) async throws(Fault) -> Int {
        try await store.change(
            """
            UPDATE bridge_session SET logout_ms = ?1, next_try_ms = ?1 WHERE logout_ms = 0 AND is_suspect < 3 AND expires_at_ms > ?1
                AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = bridge_session.session_id)
            """, [now], of: "bridge_session")
    }

    package func dueLogouts(now: Timestamp, most: Int) async throws(Fault) -> [UpstreamLogout] {
        let due: Statement = """
            SELECT \(UpstreamPart.columns), tries FROM bridge_session WHERE logout_ms > 0 AND next_try_ms <= ? AND expires_at_ms > ?
            ORDER BY next_try_ms LIMIT ?
            """
        return try await store.all(due, [now, now, most]) { UpstreamLogout(part: try UpstreamPart(columns: &$0), tries: Int($0.next() as Int64)) }
    }

    package func openLogouts(of sessions: [SessionID], now: Timestamp) async throws(Fault) -> [UpstreamLogout] {
        let open: Statement = """
            SELECT \(UpstreamPart.columns), tries FROM bridge_session WHERE session_id = ? AND logout_ms > 0 AND expires_at_ms > ?
            """
        var found: [UpstreamLogout] = []
        for session in sessions {
            found += try await store.all(open, [session, now]) {
                UpstreamLogout(part: try UpstreamPart(columns: &$0), tries: Int($0.next() as Int64))
            }
        }
        return found
    }

    package func openLogouts(of key: SessionKey, upstream: String, mvpd: String, now: Timestamp) async throws(Fault) -> [UpstreamLogout] {
        let open: Statement = """
            SELECT \(UpstreamPart.columns), tries FROM bridge_session
            WHERE device_id = ? AND requestor = ? AND upstream = ? AND their_mvpd = ? AND logout_ms > 0 AND expires_at_ms > ? LIMIT 8
            """
        return try await store.all(open, [key.device, key.requestor, upstream, mvpd, now]) {
            UpstreamLogout(part: try UpstreamPart(columns: &$0), tries: Int($0.next() as Int64))
        }
    }

    package func postpone(_ logout: UpstreamLogout, until moment: Timestamp) async throws(Fault) {
        try await store.change(
            "UPDATE bridge_session SET next_try_ms = ?, tries = tries + 1 WHERE session_id = ?", [moment, logout.part.session],
            of: logout.part.session.text)
    }

    package func hastenLogouts(at upstream: String, now: Timestamp) async throws(Fault) {
        try await store.change(
            "UPDATE bridge_session SET next_try_ms = ?1 WHERE logout_ms > 0 AND next_try_ms > ?1 AND upstream = ?2", [now, upstream], of: upstream)
    }

    package func finish(_ logout: UpstreamLogout) async throws(Fault) {
        try await store.change(
            "DELETE FROM bridge_session WHERE session_id = ? AND logout_ms > 0", [logout.part.session], of: logout.part.session.text)
    }
}
