internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: BridgeStore {
    // MARK: Clients

    func bridgeSlot(_ name: BridgeSlotName) async throws(Fault) -> BridgeSlotRecord? {
        let found: Statement = """
            SELECT client_id, secret, scopes, bearer, bearer_end_ms, bearer_life_s FROM bridge_slot WHERE name = ? AND client_id <> ''
            """
        return try await store.first(found, [name.text]) { columns in
            let (clientID, secret): (String, [UInt8]) = (columns.next(), columns.next())
            let scopes: String = columns.next()
            return BridgeSlotRecord(
                name: name, clientID: clientID, secret: secret, scopes: scopes.split(separator: " ").map(String.init), bearer: columns.next(),
                bearerEnd: columns.next(), bearerLifeSeconds: columns.next())
        }
    }

    func claimBridgeSlot(_ name: BridgeSlotName, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool {
        let end = now + BridgeSlotRecord.unusedLife
        return try await store.change(
            """
            INSERT INTO bridge_slot (name, upstream, client_id, secret, scopes, bearer, bearer_end_ms, bearer_life_s, lease_until_ms, expires_at_ms)
            VALUES (?1, ?2, '', ?3, '', ?3, 0, 0, ?4, ?5)
            ON CONFLICT (name) DO UPDATE SET lease_until_ms = excluded.lease_until_ms
            WHERE bridge_slot.lease_until_ms <= ?6 AND bridge_slot.client_id = ''
            """, [name.text, name.upstream, [] as [UInt8], lease, end, now], of: name.text) == 1
    }

    func releaseBridgeSlot(_ name: BridgeSlotName, until lease: Timestamp) async throws(Fault) {
        _ = try await store.change(
            "UPDATE bridge_slot SET lease_until_ms = 0 WHERE name = ? AND lease_until_ms = ? AND client_id = ''", [name.text, lease], of: name.text)
    }

    func keep(_ slot: BridgeSlotRecord, now: Timestamp) async throws(Fault) {
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
                slot.bearerLifeSeconds, now + BridgeSlotRecord.unusedLife,
            ], of: slot.name.text)
    }

    func dropBridgeSlot(_ name: String) async throws(Fault) -> Int {
        let keys: [SessionKey] = try await store.write { database in
            try database.run("DELETE FROM bridge_slot WHERE name = ?", [name])
            let keys = try database.all("SELECT device_id, requestor FROM bridge_session WHERE slot = ?", [name]) {
                SessionKey(device: $0.next(), requestor: $0.next())
            }
            try database.run("DELETE FROM session WHERE id IN (SELECT session_id FROM bridge_session WHERE slot = ?)", [name])
            try database.run("DELETE FROM bridge_session WHERE slot = ?", [name])
            return keys
        }
        for key in keys { memory.forget(key) }
        parts.forgetAll()
        return keys.count
    }

    // MARK: Logins under way

    func begin(_ pending: BridgePending) async throws(Fault) {
        let device = try pending.device.serialized()
        try await store.write { database in
            try database.run("DELETE FROM bridge_pending WHERE record_id = ?", [pending.record])
            try database.run(
                """
                INSERT INTO bridge_pending (\(BridgePending.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    pending.handle, pending.record, pending.code, pending.key.device, pending.key.requestor, pending.claims.appID,
                    pending.claims.deviceUser, pending.clientID, device, pending.userAgent, pending.mvpd, pending.upstream, pending.serviceProvider,
                    pending.theirMvpd, pending.slot, pending.upstreamCode, pending.redirectURL, pending.isOwn, pending.startedAt, pending.expiresAt,
                    pending.state.rawValue,
                ])
        }
    }

    /// One that is over may still bring a login of its last seconds.
    private static let lateMilliseconds: Int64 = 60_000

    func bridgePending(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> BridgePending? {
        let live: Statement = "SELECT \(BridgePending.columns) FROM bridge_pending WHERE handle = ? AND expires_at_ms > ?"
        return try await store.first(live, [handle, now - .milliseconds(Self.lateMilliseconds)]) { try BridgePending(columns: &$0) }
    }

    func bridgePending(of record: RegistrationRecordID, now: Timestamp) async throws(Fault) -> BridgePending? {
        let live: Statement = "SELECT \(BridgePending.columns) FROM bridge_pending WHERE record_id = ? AND expires_at_ms > ?"
        return try await store.first(live, [record, now - .milliseconds(Self.lateMilliseconds)]) { try BridgePending(columns: &$0) }
    }

    func bridgePendings(_ key: SessionKey, now: Timestamp) async throws(Fault) -> [BridgePending] {
        let live: Statement = """
            SELECT \(BridgePending.columns) FROM bridge_pending
            WHERE device_id = ? AND requestor = ? AND expires_at_ms > ? AND state <> 1 ORDER BY started_at_ms DESC LIMIT 8
            """
        return try await store.all(live, [key.device, key.requestor, now - .milliseconds(Self.lateMilliseconds)]) {
            try BridgePending(columns: &$0)
        }
    }

    func settle(_ handle: SecretDigest, as state: BridgePending.State) async throws(Fault) {
        try await store.change("UPDATE bridge_pending SET state = ? WHERE handle = ? AND state <> 1", [state.rawValue, handle], of: "bridge_pending")
    }

    // MARK: Sessions

    func start(_ session: SessionRecord, _ part: BridgedPart, of pending: SecretDigest?, now: Timestamp) async throws(Fault) -> Bool {
        let values = try part.values
        let session = session.known(as: try await verifiersID(of: part.person, now: now))
        return try await starting(session) { database in
            if let pending {
                let open = try database.run("UPDATE bridge_pending SET state = 1 WHERE handle = ? AND state <> 1", [pending])
                // Another poll was faster.
                guard open == 1 else { return Start(false) }
            }
            guard let code = try database.use(codeOf: session, now: now) else {
                if let pending { try database.run("UPDATE bridge_pending SET state = 0 WHERE handle = ?", [pending]) }
                return Start(false)
            }
            try session.insert(into: database)
            try database.note(part.household, of: part.session)
            // It is the profile of the login before: upstream must not end it.
            try database.run(
                """
                DELETE FROM bridge_session WHERE device_id = ? AND requestor = ? AND slot = ? AND service_provider = ? AND their_mvpd = ?
                """, [part.key.device, part.key.requestor, part.slot, part.serviceProvider, part.theirMvpd])
            try database.run(BridgedPart.insertion, values)
            return Start(true, using: code.code)
        }
    }

    func bridgedPart(_ session: SessionID) async throws(Fault) -> BridgedPart? {
        let epoch: CoherentCache<SessionID, BridgedPart>.Epoch
        switch parts.lookup(session) {
        case .hit(let part): return part
        case .miss(let current): epoch = current
        }
        let found: Statement = "SELECT \(BridgedPart.columns) FROM bridge_session WHERE session_id = ? AND logout_ms = 0 AND is_suspect <> 3"
        let part = try await store.first(found, [session]) { try BridgedPart(columns: &$0) }
        if let part { parts.offer(part, for: session, readIn: epoch) }
        return part
    }

    func confirm(_ part: BridgedPart, updatedAt: Timestamp?) async throws(Fault) {
        defer {
            parts.forget(part.session)
            memory.forget(part.key)
        }
        try await store.write { database in
            try database.run(
                """
                UPDATE bridge_session SET expires_at_ms = ?, confirmed_at_ms = ?, is_suspect = 0, encrypted_names = ?, attributes = ?
                WHERE session_id = ? AND logout_ms = 0 AND is_suspect <> 3
                """, [part.expiresAt, part.confirmedAt, part.encryptedNames.joined(separator: " "), part.attributes, part.session])
            if let updatedAt {
                // Told in whole seconds: each change is later than the one before (rest-v1 §8).
                try database.run(
                    """
                    UPDATE session SET updated_at_ms = CASE WHEN ?1 >= (updated_at_ms / 1000 + 1) * 1000 THEN ?1 ELSE (updated_at_ms / 1000 + 1) * 1000 END
                    WHERE id = ?2
                    """, [updatedAt, part.session])
            }
            try database.note(part.household, of: part.session)
            try database.run(
                "UPDATE session SET expires_at_ms = ? WHERE id = ? AND expires_at_ms <> ?", [part.expiresAt, part.session, part.expiresAt])
        }
    }

    func suspect(_ session: SessionID) async throws(Fault) {
        defer { parts.forget(session) }
        try await store.change("UPDATE bridge_session SET is_suspect = 1 WHERE session_id = ? AND is_suspect <> 3", [session], of: session.text)
    }

    func decided(_ part: BridgedPart) async throws(Fault) {
        defer { parts.forget(part.session) }
        try await store.change(
            "UPDATE bridge_session SET is_suspect = 2 WHERE session_id = ? AND is_suspect = 0", [part.session], of: part.session.text)
    }

    func learn(_ id: String, of part: BridgedPart, person: String?, now: Timestamp) async throws(Fault) {
        defer { memory.forget(part.key) }
        try await store.write { database in
            try database.run("UPDATE session SET user_id = ? WHERE id = ?", [id, part.session])
            guard let person else { return }
            try database.run(
                """
                INSERT INTO bridge_person (person, verifiers_id, expires_at_ms) VALUES (?, ?, ?)
                ON CONFLICT (person) DO UPDATE SET verifiers_id = excluded.verifiers_id, expires_at_ms = excluded.expires_at_ms
                """, [person, id, now + Self.learnedLife])
        }
    }

    /// So long after its last use a learned id is forgotten (bridge §8.2).
    private static let learnedLife: Duration = .seconds(90 * 86_400)

    /// Its life is renewed not for every sign-in, but once a month.
    private func verifiersID(of person: String?, now: Timestamp) async throws(Fault) -> String? {
        guard let person else { return nil }
        let known: (id: String, end: Timestamp)? = try await store.first(
            "SELECT verifiers_id, expires_at_ms FROM bridge_person WHERE person = ? AND expires_at_ms > ?", [person, now]
        ) { ($0.next(), $0.next()) }
        guard let known else { return nil }
        if known.end < now + .seconds(60 * 86_400) {
            try await store.change(
                "UPDATE bridge_person SET expires_at_ms = ? WHERE person = ?", [now + Self.learnedLife, person], of: "bridge_person")
        }
        return known.id
    }

    func drop(_ part: BridgedPart, now: Timestamp) async throws(Fault) {
        defer {
            parts.forget(part.session)
            memory.forget(part.key)
        }
        try await store.write { database in
            try database.run("DELETE FROM session WHERE id = ?", [part.session])
            try database.run(
                """
                UPDATE bridge_session SET is_suspect = 3, attributes = ?, encrypted_names = '', expires_at_ms = ?
                WHERE session_id = ? AND logout_ms = 0
                """, [[] as [UInt8], now, part.session])
        }
    }

    func forgotten(_ key: SessionKey, since moment: Timestamp) async throws(Fault) -> [BridgedPart] {
        let gone: Statement = """
            SELECT \(BridgedPart.columns) FROM bridge_session
            WHERE device_id = ? AND requestor = ? AND is_suspect = 3 AND logout_ms = 0 AND expires_at_ms >= ? ORDER BY expires_at_ms DESC LIMIT 8
            """
        return try await store.all(gone, [key.device, key.requestor, moment]) { try BridgedPart(columns: &$0) }
    }

    func endTrials(requestor: RequestorID, mvpd: MvpdID, device: DeviceID?) async throws(Fault) -> Int {
        let keys: [SessionKey] = try await store.write { database in
            let trials = try database.all(
                "SELECT session_id, device_id, requestor FROM bridge_session WHERE requestor = ? AND mvpd = ? AND kind = 'temporary'",
                [requestor, mvpd]
            ) { (session: $0.next() as SessionID, key: SessionKey(device: $0.next(), requestor: $0.next())) }
            let ended = trials.filter { device == nil || $0.key.device == device }
            for trial in ended {
                try database.run("DELETE FROM session WHERE id = ?", [trial.session])
                try database.run("DELETE FROM bridge_session WHERE session_id = ?", [trial.session])
            }
            return ended.map(\.key)
        }
        for key in keys { memory.forget(key) }
        parts.forgetAll()
        return keys.count
    }

    func take(_ request: UpstreamRequestID, now: Timestamp) async throws(Fault) -> Bool {
        try await store.change(
            "DELETE FROM profile_request WHERE request_id = ? AND expires_at_ms > ?", [request, now], of: "profile_request") == 1
    }

    // MARK: Logouts

    func remember(logoutsOf sessions: [SessionID], now: Timestamp) async throws(Fault) {
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
                    """, [now, now, session])
                try database.run("DELETE FROM bridge_session WHERE session_id = ? AND logout_ms = 0", [session])
            }
        }
    }

    func remember(logoutOf part: BridgedPart, now: Timestamp) async throws(Fault) {
        let values = try part.values
        try await store.write { database in
            try database.run(BridgedPart.insertion, values)
            try database.run("UPDATE bridge_session SET logout_ms = ?, next_try_ms = ? WHERE session_id = ?", [now, now, part.session])
        }
    }

    func rememberOrphans(now: Timestamp) async throws(Fault) -> Int {
        try await store.change(
            """
            UPDATE bridge_session SET logout_ms = ?1, next_try_ms = ?1 WHERE logout_ms = 0 AND is_suspect <> 3 AND expires_at_ms > ?1
                AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = bridge_session.session_id)
            """, [now], of: "bridge_session")
    }

    func dueLogouts(now: Timestamp, most: Int) async throws(Fault) -> [BridgeLogout] {
        let due: Statement = """
            SELECT \(BridgedPart.columns), tries FROM bridge_session WHERE logout_ms > 0 AND next_try_ms <= ? AND expires_at_ms > ?
            ORDER BY next_try_ms LIMIT ?
            """
        return try await store.all(due, [now, now, most]) { BridgeLogout(part: try BridgedPart(columns: &$0), tries: Int($0.next() as Int64)) }
    }

    func openLogouts(of key: SessionKey, upstream: String, mvpd: String, now: Timestamp) async throws(Fault) -> [BridgeLogout] {
        let open: Statement = """
            SELECT \(BridgedPart.columns), tries FROM bridge_session
            WHERE device_id = ? AND requestor = ? AND upstream = ? AND their_mvpd = ? AND logout_ms > 0 AND expires_at_ms > ? LIMIT 8
            """
        return try await store.all(open, [key.device, key.requestor, upstream, mvpd, now]) {
            BridgeLogout(part: try BridgedPart(columns: &$0), tries: Int($0.next() as Int64))
        }
    }

    func postpone(_ logout: BridgeLogout, until moment: Timestamp) async throws(Fault) {
        try await store.change(
            "UPDATE bridge_session SET next_try_ms = ?, tries = tries + 1 WHERE session_id = ?", [moment, logout.part.session],
            of: logout.part.session.text)
    }

    func hastenLogouts(at upstream: String, now: Timestamp) async throws(Fault) {
        try await store.change(
            "UPDATE bridge_session SET next_try_ms = ?1 WHERE logout_ms > 0 AND next_try_ms > ?1 AND upstream = ?2", [now, upstream], of: upstream)
    }

    func finish(_ logout: BridgeLogout) async throws(Fault) {
        try await store.change(
            "DELETE FROM bridge_session WHERE session_id = ? AND logout_ms > 0", [logout.part.session], of: logout.part.session.text)
    }

    // MARK: Numbers

    func bridgeHoldings(_ upstream: String, listsSince oldest: Timestamp, now: Timestamp) async throws(Fault) -> BridgeHoldings {
        // A device's own has 64 hex digits after the last slash.
        let clients: Statement = """
            SELECT COUNT(*), COALESCE(SUM(CASE WHEN length(name) > 65 AND substr(name, length(name) - 64, 1) = '/'
                AND substr(name, length(name) - 63) NOT LIKE '%/%' THEN 1 ELSE 0 END), 0)
            FROM bridge_slot WHERE upstream = ? AND client_id <> ''
            """
        let logouts: Statement = "SELECT COUNT(*) FROM bridge_session WHERE upstream = ? AND logout_ms > 0 AND expires_at_ms > ?"
        let lists: Statement = "SELECT COALESCE(MIN(listed_at_ms), 0) FROM bridge_list WHERE substr(place, 1, length(?1)) = ?1 AND listed_at_ms >= ?2"
        var holdings = BridgeHoldings()
        let counts: (Int64, Int64)? = try await store.first(clients, [upstream]) { ($0.next(), $0.next()) }
        (holdings.clients, holdings.deviceClients) = (Int(counts?.0 ?? 0), Int(counts?.1 ?? 0))
        holdings.openLogouts = Int(try await store.first(logouts, [upstream, now]) { $0.next() as Int64 } ?? 0)
        let listed: Timestamp? = try await store.first(lists, ["\(upstream)/", oldest]) { $0.next() }
        holdings.oldestList = listed.flatMap { $0.milliseconds == 0 ? nil : $0 }
        return holdings
    }

    // MARK: Lists

    func keep(list: [UInt8], _ key: String, at moment: Timestamp) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO bridge_list (place, content, listed_at_ms) VALUES (?, ?, ?)
            ON CONFLICT (place) DO UPDATE SET content = excluded.content, listed_at_ms = excluded.listed_at_ms
            """, [key, list, moment], of: key)
    }

    func list(_ key: String) async throws(Fault) -> (content: [UInt8], at: Timestamp)? {
        try await store.first("SELECT content, listed_at_ms FROM bridge_list WHERE place = ?", [key]) { ($0.next(), $0.next()) }
    }
}

extension Database {
    /// - Parameter household: A mark; `nil`: it is noted.
    fileprivate func note(_ household: String?, of session: SessionID) throws {
        guard let household else { return }
        try run("UPDATE session SET household = ? WHERE id = ?", [household, session])
    }
}

extension BridgePending {
    fileprivate static let columns = """
        handle, record_id, code, device_id, requestor, app_id, device_user, client_id, device, user_agent, mvpd, upstream, service_provider, \
        their_mvpd, slot, upstream_code, redirect_url, is_own, started_at_ms, expires_at_ms, state
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
    }
}

extension BridgedPart {
    fileprivate static let columns = """
        session_id, device_id, requestor, mvpd, upstream, service_provider, their_mvpd, slot, kind, starts_at_ms, expires_at_ms, confirmed_at_ms, \
        is_suspect, encrypted_names, attributes, device, user_agent
        """

    fileprivate static let insertion: Statement = """
        INSERT INTO bridge_session (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    fileprivate var values: Arguments {
        get throws(Fault) {
            [
                session, key.device, key.requestor, mvpd, upstream, serviceProvider, theirMvpd, slot, kind, startsAt, expiresAt, confirmedAt,
                isSuspect ? 1 : mayHaveChanged ? 2 : 0,
                encryptedNames.joined(separator: " "), attributes, try device.serialized(), userAgent,
            ]
        }
    }

    fileprivate init(columns: inout ColumnReader) throws {
        let session: SessionID = columns.next()
        let key = SessionKey(device: columns.next(), requestor: columns.next())
        let mvpd: MvpdID = columns.next()
        let (upstream, serviceProvider, theirMvpd): (String, String, String) = (columns.next(), columns.next(), columns.next())
        let (slot, kind): (String, String) = (columns.next(), columns.next())
        let (startsAt, expiresAt, confirmedAt): (Timestamp, Timestamp, Timestamp) = (columns.next(), columns.next(), columns.next())
        // 1: suspect; 2: a decision was made since; 3: upstream does not know it any more.
        let trust: Int64 = columns.next()
        let names: String = columns.next()
        let attributes: [UInt8] = columns.next()
        self.init(
            session: session, key: key, mvpd: mvpd, upstream: upstream, serviceProvider: serviceProvider, theirMvpd: theirMvpd, slot: slot,
            kind: kind,
            startsAt: startsAt, expiresAt: expiresAt, confirmedAt: confirmedAt, isSuspect: trust == 1, mayHaveChanged: trust == 2,
            encryptedNames: names.split(separator: " ").map(String.init), attributes: attributes,
            device: try DeviceInformation(serialized: columns.next() as [UInt8]), userAgent: columns.next())
    }
}
