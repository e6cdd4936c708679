package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
package import Storage

/// Sessions whose logins upstreams made.
extension SqlAuthenticationStore {
    package func start(_ session: SessionRecord, _ part: UpstreamPart, of pending: SecretDigest?, now: Timestamp) async throws(Fault) -> Bool {
        try await start(session, part, of: pending, endsOthers: false, now: now) != nil
    }

    package func startAlone(
        _ session: SessionRecord, _ part: UpstreamPart, of pending: SecretDigest?, now: Timestamp
    ) async throws(Fault) -> [UpstreamPart]? {
        let ended = try await start(session, part, of: pending, endsOthers: true, now: now)
        for other in ended ?? [] { parts.forget(other.session) }
        return ended
    }

    private func start(
        _ session: SessionRecord, _ part: UpstreamPart, of pending: SecretDigest?, endsOthers: Bool, now: Timestamp
    ) async throws(Fault) -> [UpstreamPart]? {
        let values = try part.values
        let session = session.known(as: try await verifiersID(of: part.person, now: now))
        defer {
            parts.forget(part.session)
            gone.forget(part.key)
        }
        return try await starting(session) { database -> Start<[UpstreamPart]?> in
            if let pending {
                let open = try database.run("UPDATE bridge_pending SET state = 1 WHERE handle = ? AND state <> 1", [pending])
                // Another poll was faster.
                guard open == 1 else { return Start(nil) }
                // The records from before, in other browsers, have been replaced upstream.
                try database.run(
                    """
                    UPDATE bridge_pending SET state = 1
                    WHERE device_id = ? AND requestor = ? AND upstream = ? AND their_mvpd = ? AND length(browser_secret) > 0 AND state = 5
                    """, [part.key.device, part.key.requestor, part.upstream, part.theirMvpd])
            }
            guard let code = try database.use(codeOf: session, now: now) else {
                if let pending { try database.run("UPDATE bridge_pending SET state = 0 WHERE handle = ?", [pending]) }
                return Start(nil)
            }
            let ended = endsOthers ? try database.endOthers(than: session, now: now) : []
            try session.insert(into: database)
            try database.note(part.household, of: part.session)
            // It is the profile of the login before: upstream must not end it.
            try database.run(
                """
                DELETE FROM bridge_session WHERE device_id = ? AND requestor = ? AND slot = ? AND service_provider = ? AND their_mvpd = ?
                """, [part.key.device, part.key.requestor, part.slot, part.serviceProvider, part.theirMvpd])
            try database.run(UpstreamPart.insertion, values)
            return Start(ended, using: code.code)
        }
    }

    package func bridgedPart(_ session: SessionID) async throws(Fault) -> UpstreamPart? {
        let epoch: CoherentCache<SessionID, UpstreamPart?>.Epoch
        switch parts.lookup(session) {
        case .hit(let part): return part
        case .miss(let current): epoch = current
        }
        let found: Statement = "SELECT \(UpstreamPart.columns) FROM bridge_session WHERE session_id = ? AND logout_ms = 0 AND is_suspect < 3"
        let part = try await store.first(found, [session]) { try UpstreamPart(columns: &$0) }
        parts.offer(part, for: session, readIn: epoch)
        return part
    }

    package func confirm(_ part: UpstreamPart, updatedAt: Timestamp?) async throws(Fault) {
        defer {
            parts.forget(part.session)
            memory.forget(part.key)
        }
        try await store.write { database in
            try database.run(
                """
                UPDATE bridge_session SET expires_at_ms = ?, confirmed_at_ms = ?, is_suspect = 0, encrypted_names = ?, attributes = ?
                WHERE session_id = ? AND logout_ms = 0 AND is_suspect < 3
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

    package func suspect(_ session: SessionID) async throws(Fault) {
        defer { parts.forget(session) }
        try await store.change("UPDATE bridge_session SET is_suspect = 1 WHERE session_id = ? AND is_suspect < 3", [session], of: session.text)
    }

    package func decided(_ part: UpstreamPart) async throws(Fault) {
        defer { parts.forget(part.session) }
        try await store.change(
            "UPDATE bridge_session SET is_suspect = 2 WHERE session_id = ? AND is_suspect = 0", [part.session], of: part.session.text)
    }

    package func learn(_ id: String, of part: UpstreamPart, person: String?, now: Timestamp) async throws(Fault) {
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

    package func drop(_ part: UpstreamPart, now: Timestamp) async throws(Fault) {
        defer {
            parts.forget(part.session)
            memory.forget(part.key)
            gone.forget(part.key)
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

    package func gone(_ key: SessionKey) async throws(Fault) -> [GoneLogin] {
        let epoch: CoherentCache<SessionKey, [GoneLogin]>.Epoch
        switch gone.lookup(key) {
        case .hit(let logins): return logins
        case .miss(let current): epoch = current
        }
        let ended: Statement = """
            SELECT mvpd, expires_at_ms FROM bridge_session WHERE device_id = ? AND requestor = ? AND is_suspect >= 3 AND logout_ms = 0
            ORDER BY expires_at_ms DESC LIMIT 8
            """
        let found = try await store.all(ended, [key.device, key.requestor]) { GoneLogin(mvpd: $0.next(), at: $0.next()) }
        gone.offer(found, for: key, readIn: epoch)
        return found
    }

    package func forgotten(_ key: SessionKey, since moment: Timestamp) async throws(Fault) -> [UpstreamPart] {
        let gone: Statement = """
            SELECT \(UpstreamPart.columns) FROM bridge_session
            WHERE device_id = ? AND requestor = ? AND is_suspect = 3 AND logout_ms = 0 AND expires_at_ms >= ? ORDER BY expires_at_ms DESC LIMIT 8
            """
        return try await store.all(gone, [key.device, key.requestor, moment]) { try UpstreamPart(columns: &$0) }
    }

    package func endTrials(requestor: RequestorID, mvpd: MvpdID, device: DeviceID?) async throws(Fault) -> Int {
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
        for key in keys {
            memory.forget(key)
            gone.forget(key)
        }
        parts.forgetAll()
        return keys.count
    }

    package func take(_ request: SamlRequestID, now: Timestamp) async throws(Fault) -> Bool {
        try await store.change(
            "DELETE FROM profile_request WHERE request_id = ? AND expires_at_ms > ?", [request, now], of: "profile_request") == 1
    }
}

extension Database {
    /// Ends the sessions of other logins upstream that the client has at the device; upstream has to hear of it.
    fileprivate func endOthers(than session: SessionRecord, now: Timestamp) throws -> [UpstreamPart] {
        let (device, requestor) = (session.key.device, session.key.requestor)
        let others: [UpstreamPart] = try all(
            """
            SELECT \(UpstreamPart.columns) FROM bridge_session
            WHERE device_id = ?1 AND requestor = ?2 AND mvpd <> ?3 AND logout_ms = 0 AND is_suspect < 3
                AND session_id IN (SELECT id FROM session WHERE device_id = ?1 AND requestor = ?2 AND client_id = ?4)
            """, [device, requestor, session.mvpd, session.clientID]
        ) { try UpstreamPart(columns: &$0) }
        for other in others {
            try run("DELETE FROM session WHERE id = ?", [other.session])
            try remember(logoutOf: other.session, now: now, firstTry: now)
        }
        return others
    }

    /// Upstream has to hear of the logout of a session, which is gone.
    func remember(logoutOf session: SessionID, now: Timestamp, firstTry: Timestamp) throws {
        // A later, older login that a platform's token names signs nobody in (bridge §8.1).
        try run(
            """
            INSERT INTO logout (device_id, requestor, logged_out_at_ms, expires_at_ms)
            SELECT device_id, requestor, ?1, expires_at_ms FROM bridge_session WHERE session_id = ?2 AND expires_at_ms > ?1
            ON CONFLICT (device_id, requestor) DO UPDATE SET logged_out_at_ms = excluded.logged_out_at_ms,
                expires_at_ms = CASE WHEN logout.expires_at_ms > excluded.expires_at_ms THEN logout.expires_at_ms ELSE excluded.expires_at_ms END
            """, [now, session])
        try run(
            """
            UPDATE bridge_session SET logout_ms = ?, next_try_ms = ?
            WHERE session_id = ? AND (logout_ms = 0 OR tries = 0) AND kind NOT IN ('temporary', 'degraded')
            """, [now, firstTry, session])
        try run("DELETE FROM bridge_session WHERE session_id = ? AND logout_ms = 0", [session])
    }

    /// - Parameter household: A mark; `nil`: it is noted.
    fileprivate func note(_ household: String?, of session: SessionID) throws {
        guard let household else { return }
        try run("UPDATE session SET household = ? WHERE id = ?", [household, session])
    }
}

extension UpstreamPart {
    static let columns = """
        session_id, device_id, requestor, mvpd, upstream, service_provider, their_mvpd, slot, kind, starts_at_ms, expires_at_ms, confirmed_at_ms, \
        is_suspect, encrypted_names, attributes, device, user_agent
        """

    static let insertion: Statement = """
        INSERT INTO bridge_session (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    var values: Arguments {
        get throws(Fault) {
            [
                session, key.device, key.requestor, mvpd, upstream, serviceProvider, theirMvpd, slot, kind, startsAt, expiresAt, confirmedAt,
                isSuspect ? 1 : mayHaveChanged ? 2 : 0,
                encryptedNames.joined(separator: " "), attributes, try device.serialized(), userAgent,
            ]
        }
    }

    package init(columns: inout ColumnReader) throws {
        let session: SessionID = columns.next()
        let key = SessionKey(device: columns.next(), requestor: columns.next())
        let mvpd: MvpdID = columns.next()
        let (upstream, serviceProvider, theirMvpd): (String, String, String) = (columns.next(), columns.next(), columns.next())
        let (slot, kind): (String, String) = (columns.next(), columns.next())
        let (startsAt, expiresAt, confirmedAt): (Timestamp, Timestamp, Timestamp) = (columns.next(), columns.next(), columns.next())
        // 1: suspect; 2: a decision was made since; 3: upstream does not know it any more; 4: nor our client.
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
