package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
internal import Storage

/// Logins under way at upstreams.
extension SqlAuthenticationStore {
    package func begin(_ pending: UpstreamPending) async throws(Fault) {
        let device = try pending.device.serialized()
        defer { settled.forget(pending.key) }
        try await store.write { database in
            try database.run("DELETE FROM bridge_pending WHERE record_id = ? AND length(browser_secret) = 0", [pending.record])
            if pending.browserSecret != nil { try database.supersede(pending) }
            try database.run(
                """
                INSERT INTO bridge_pending (\(UpstreamPending.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    pending.handle, pending.record, pending.code, pending.key.device, pending.key.requestor, pending.claims.appID,
                    pending.claims.deviceUser, pending.clientID, device, pending.userAgent, pending.mvpd, pending.upstream, pending.serviceProvider,
                    pending.theirMvpd, pending.slot, pending.upstreamCode, pending.redirectURL, pending.isOwn, pending.startedAt, pending.expiresAt,
                    pending.state.rawValue, pending.browserSecret?.bytes ?? [],
                ])
        }
    }

    /// One that is over may still bring a login of its last seconds.
    private static let lateMilliseconds: Int64 = 60_000

    package func bridgePending(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> UpstreamPending? {
        let live: Statement = "SELECT \(UpstreamPending.columns) FROM bridge_pending WHERE handle = ? AND expires_at_ms > ?"
        return try await store.first(live, [handle, now - .milliseconds(Self.lateMilliseconds)]) { try UpstreamPending(columns: &$0) }
    }

    package func bridgePending(of record: RegistrationRecordID, now: Timestamp) async throws(Fault) -> UpstreamPending? {
        let live: Statement =
            "SELECT \(UpstreamPending.columns) FROM bridge_pending WHERE record_id = ? AND expires_at_ms > ? ORDER BY started_at_ms DESC LIMIT 1"
        return try await store.first(live, [record, now - .milliseconds(Self.lateMilliseconds)]) { try UpstreamPending(columns: &$0) }
    }

    package func bridgePendings(_ key: SessionKey, now: Timestamp) async throws(Fault) -> [UpstreamPending] {
        let live: Statement = """
            SELECT \(UpstreamPending.columns) FROM bridge_pending
            WHERE device_id = ? AND requestor = ? AND expires_at_ms > ? AND state <> 1 ORDER BY started_at_ms DESC LIMIT 8
            """
        // A login that is over does not begin again: only a new one ends this.
        guard case .miss(let epoch) = settled.lookup(key) else { return [] }
        let found = try await store.all(live, [key.device, key.requestor, now - .milliseconds(Self.lateMilliseconds)]) {
            try UpstreamPending(columns: &$0)
        }
        if found.isEmpty { settled.offer(true, for: key, readIn: epoch) }
        return found
    }

    package func boundPendings(_ key: SessionKey, upstream: String, mvpd: String) async throws(Fault) -> [UpstreamPending] {
        let bound: Statement = """
            SELECT \(UpstreamPending.columns) FROM bridge_pending
            WHERE device_id = ? AND requestor = ? AND upstream = ? AND their_mvpd = ? AND state <> 1 AND length(browser_secret) > 0
            ORDER BY started_at_ms
            """
        return try await store.all(bound, [key.device, key.requestor, upstream, mvpd]) { try UpstreamPending(columns: &$0) }
    }

    package func unresolvedPendings(now: Timestamp, most: Int) async throws(Fault) -> [UpstreamPending] {
        let over: Statement = """
            SELECT \(UpstreamPending.columns) FROM bridge_pending
            WHERE length(browser_secret) > 0 AND (state = 6 OR state <> 1 AND expires_at_ms <= ?) ORDER BY started_at_ms LIMIT ?
            """
        return try await store.all(over, [now - .milliseconds(Self.lateMilliseconds), most]) { try UpstreamPending(columns: &$0) }
    }

    package func settle(_ handle: SecretDigest, as state: UpstreamPending.State) async throws(Fault) {
        try await store.change("UPDATE bridge_pending SET state = ? WHERE handle = ? AND state <> 1", [state.rawValue, handle], of: "bridge_pending")
    }
}

extension UpstreamPending {
    fileprivate static let columns = """
        handle, record_id, code, device_id, requestor, app_id, device_user, client_id, device, user_agent, mvpd, upstream, service_provider, \
        their_mvpd, slot, upstream_code, redirect_url, is_own, started_at_ms, expires_at_ms, state, \
        browser_secret
        """

    fileprivate init(columns: inout ColumnReader) throws {
        let (handle, record, code): (SecretDigest, RegistrationRecordID, RegistrationCodeText) = (columns.next(), columns.next(), columns.next())
        let key = SessionKey(device: columns.next(), requestor: columns.next())
        let claims = DeviceClaims(appID: columns.next(), deviceUser: columns.next())
        let clientID: ClientID = columns.next()
        let device = try DeviceInformation(serialized: columns.next() as [UInt8])
        self.init(
            handle: handle, record: record, code: code, key: key, claims: claims, clientID: clientID, device: device, userAgent: columns.next(),
            mvpd: columns.next(), upstream: columns.next(), serviceProvider: columns.next(), theirMvpd: columns.next(), slot: columns.next(),
            upstreamCode: columns.next(), redirectURL: columns.next(), isOwn: columns.next(), startedAt: columns.next(), expiresAt: columns.next(),
            state: State(rawValue: columns.next()) ?? .done)
        let secret: [UInt8] = columns.next()
        browserSecret = secret.isEmpty ? nil : SecretDigest(bytes: secret)
    }
}

extension Database {
    /// The limit of logins for a device that begins again and again. The first login stays, by which a profile is judged, and so many of the last.
    private static let mostSuperseded = 8

    fileprivate func supersede(_ pending: UpstreamPending) throws {
        let place: Arguments = [pending.key.device, pending.key.requestor, pending.upstream, pending.theirMvpd]
        try run(
            """
            UPDATE bridge_pending SET state = 5
            WHERE device_id = ? AND requestor = ? AND upstream = ? AND their_mvpd = ? AND length(browser_secret) > 0 AND state IN (0, 2, 3)
            """, place)
        let handles: [SecretDigest] = try all(
            """
            SELECT handle FROM bridge_pending
            WHERE device_id = ? AND requestor = ? AND upstream = ? AND their_mvpd = ? AND length(browser_secret) > 0 AND state = 5
            ORDER BY started_at_ms
            """, place
        ) { $0.next() }
        for handle in handles.dropFirst().dropLast(Self.mostSuperseded) { try run("DELETE FROM bridge_pending WHERE handle = ?", [handle]) }
    }
}
