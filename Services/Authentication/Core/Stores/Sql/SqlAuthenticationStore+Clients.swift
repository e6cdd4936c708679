package import Clocks
package import Faults
package import Storage

extension SqlAuthenticationStore {
    package func add(_ client: Client) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO client (id, secret_digest, software_id, redirect_uri, issued_at_ms, last_used_ms, has_acted) VALUES (?, ?, ?, ?, ?, ?, 0)
            """, [client.id, client.secretDigest, client.softwareID, client.redirectURI, client.issuedAt, client.issuedAt])
    }

    package func client(_ id: ClientID) async throws(Fault) -> Client? {
        let epoch: CoherentCache<ClientID, Client>.Epoch
        switch clients.lookup(id) {
        case .hit(let client): return client
        case .miss(let current): epoch = current
        }
        let found = try await store.first(
            "SELECT id, secret_digest, software_id, redirect_uri, issued_at_ms FROM client WHERE id = ?", [id]
        ) { columns in
            Client(
                id: columns.next(), secretDigest: columns.next(), softwareID: columns.next(), redirectURI: columns.next(),
                issuedAt: columns.next())
        }
        if let found { clients.offer(found, for: id, readIn: epoch) }
        return found
    }

    /// Notes that a client asked for a token: it is remembered by the day.
    package func noteUse(of client: ClientID, at moment: Timestamp) async throws(Fault) {
        try await store.change("UPDATE client SET last_used_ms = ?1 WHERE id = ?2 AND last_used_ms < ?1", [moment, client])
    }

    /// Forgets a batch of clients that were last used before a moment and have no session and no code that has not ended. It also forgets those that
    /// never made one.
    /// - Parameters:
    ///   - used: For clients that made something once.
    ///   - idle: For clients that never did.
    /// - Returns: The number of forgotten clients.
    package func forgetClients(usedBefore used: Timestamp, idleBefore idle: Timestamp, now: Timestamp) async throws(Fault) -> Int {
        // A client can make something only with a token, and asked for one a day before at the latest: what is found here stays true.
        let unused = try await store.read { database in
            let idle: [ClientID] = try database.values(
                "SELECT id FROM client WHERE has_acted = 0 AND last_used_ms < ?1 AND issued_at_ms < ?1 LIMIT ?2", [idle, Self.clientBatch])
            let over: [ClientID] = try database.values(
                """
                SELECT id FROM client WHERE has_acted = 1 AND last_used_ms < ?1 AND issued_at_ms < ?1 AND id NOT IN (SELECT client_id FROM session)
                    AND id NOT IN (SELECT client_id FROM registration_code WHERE expires_at_ms > ?2) LIMIT ?3
                """, [used, now, Self.clientBatch])
            return idle + over
        }
        guard !unused.isEmpty else { return 0 }
        defer { for id in unused { clients.forget(id) } }
        return try await store.write { database in
            try unused.reduce(0) { count, id in
                count + (try database.run("DELETE FROM client WHERE id = ?1 AND last_used_ms < ?2 AND issued_at_ms < ?2", [id, max(used, idle)]))
            }
        }
    }

    private static var clientBatch: Int { 500 }

    /// Forgets a client for good.
    /// - Returns: False when there is none.
    package func revoke(_ client: ClientID) async throws(Fault) -> Bool {
        defer { clients.forget(client) }
        let revoke: Statement = "DELETE FROM client WHERE id = ?"
        guard !store.isCoherent else { return try await store.change(revoke, [client]) == 1 }
        let wasKnown = try await store.write { database in
            let wasKnown = try database.run(revoke, [client]) == 1
            try database.run(ClientEpoch.advance)
            return wasKnown
        }
        await ClientEpoch.heardByAll()
        return wasKnown
    }
}

extension Database {
    /// Notes that a client has made something.
    func noteAct(of client: ClientID) throws { try run(Client.noteAct, [client]) }
}

extension Client {
    static let noteAct: Statement = "UPDATE client SET has_acted = 1 WHERE id = ? AND has_acted = 0"
}

extension SqlAuthenticationStore {
    /// As `start`, with the tokens that the MVPD gave; they go when the session goes.
    package func start(_ session: SessionRecord, keeping tokens: ProviderTokenRecord, now: Timestamp) async throws(Fault) -> Bool {
        defer { noteStart(of: session) }
        let stored = try await store.commit { () throws(Fault) in
            var plan = try session.plan(now: now)
            plan.add(ProviderTokenRecord.insertion, tokens.values)
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

    package func providerTokens(of session: SessionID) async throws(Fault) -> ProviderTokenRecord? {
        try await store.first("SELECT \(ProviderTokenRecord.columns) FROM upstream_token WHERE session_id = ?", [session]) {
            ProviderTokenRecord(columns: &$0)
        }
    }

    /// The sealed id_tokens of the sessions that a device has at a requestor.
    package func identityTokens(at key: SessionKey) async throws(Fault) -> [SessionID: [UInt8]] {
        let named: Statement = """
            SELECT upstream_token.session_id, upstream_token.identity_token FROM session JOIN upstream_token ON upstream_token.session_id = session.id
            WHERE session.device_id = ? AND session.requestor = ? AND upstream_token.identity_token IS NOT NULL
            """
        let found = try await store.all(named, [key.device, key.requestor]) { ($0.next() as SessionID, $0.next() as [UInt8]) }
        return Dictionary(found) { $1 }
    }

    /// Takes the turn of asking the MVPD for fresh tokens. The turn lasts until the lease ends or one of the calls below gives it back.
    /// - Returns: False while somebody else has it, or when the session is gone.
    package func claimRefresh(of session: SessionID, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool {
        try await store.change(
            """
            UPDATE upstream_token SET refreshing_until_ms = ?
            WHERE session_id = ? AND (refreshing_until_ms IS NULL OR refreshing_until_ms <= ?)
            """, [lease, session, now]) == 1
    }

    /// Stores the MVPD's tokens in place of the earlier ones and gives the turn back.
    /// - Returns: False when the session has another refresh token by now, or is gone; nothing changed.
    package func put(_ tokens: ProviderTokenRecord, replacing before: [UInt8]?) async throws(Fault) -> Bool {
        try await store.change(
            """
            UPDATE upstream_token SET refresh_token = ?, access_token = ?, access_expires_at_ms = ?, refreshing_until_ms = NULL
            WHERE session_id = ? AND refresh_token IS NOT DISTINCT FROM ?
            """, [tokens.refreshToken, tokens.accessToken, tokens.accessExpiresAt, tokens.session, before]) == 1
    }

    /// Gives the turn back; nothing else changes.
    package func endRefresh(of session: SessionID) async throws(Fault) {
        try await store.change("UPDATE upstream_token SET refreshing_until_ms = NULL WHERE session_id = ?", [session])
    }
}

extension ProviderTokenRecord {
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

/// Logouts at the MVPDs (mvpd §2.7).
extension SqlAuthenticationStore {
    package func add(_ logouts: [PendingLogout]) async throws(Fault) {
        try await store.write { database in
            let insert: Statement = """
                INSERT INTO pending_logout (handle, requestor, mvpd, name_id, name_format, name_qualifier, sp_name_qualifier, sp_provided_id,
                    session_index, redirect_url, expires_at_ms, hint)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            for logout in logouts {
                let name = logout.name
                try database.run(
                    insert,
                    [
                        logout.handle, logout.requestor, logout.mvpd, name.value, name.format, name.nameQualifier, name.serviceProviderQualifier,
                        name.serviceProvidedID, name.sessionIndex, logout.redirectURL, logout.expiresAt, logout.hint,
                    ])
            }
        }
    }

    /// Notes the request that is sent now.
    /// - Returns: `nil` when there is no such logout, or it is over.
    package func visit(_ handle: SecretDigest, as request: SamlRequestID, now: Timestamp) async throws(Fault) -> PendingLogout? {
        try await store.write { database in
            let visit: Statement = """
                UPDATE pending_logout SET request_id = ? WHERE handle = ? AND expires_at_ms > ? RETURNING \(PendingLogout.columns)
                """
            return try database.first(visit, [request, handle, now]) { PendingLogout(columns: &$0) }
        }
    }

    package func pendingLogout(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> PendingLogout? {
        try await store.first("SELECT \(PendingLogout.columns) FROM pending_logout WHERE handle = ? AND expires_at_ms > ?", [handle, now]) {
            PendingLogout(columns: &$0)
        }
    }

    /// Consumes the logout.
    /// - Returns: False when it was consumed before, or another request was sent since.
    package func finish(_ handle: SecretDigest, request: SamlRequestID) async throws(Fault) -> Bool {
        try await store.change("DELETE FROM pending_logout WHERE handle = ? AND request_id = ?", [handle, request]) == 1
    }

    /// Removes the sessions that an MVPD ended, and remembers the request and the logouts, as one change.
    package func end(_ logout: MvpdLogout, now: Timestamp) async throws(Fault) -> MvpdLogoutResult {
        let (result, keys) = try await store.write { database -> (MvpdLogoutResult, [SessionKey]) in
            guard try database.remember(logout.replay) else { return (.replayed, []) }
            var keys: [SessionKey] = []
            var ended: [SessionRecord] = []
            for mvpd in logout.mvpds {
                let named: Statement = "SELECT \(SessionRecord.columns) FROM session WHERE mvpd = ? AND name_id = ?"
                let sessions = try database.all(named, [mvpd, logout.name.value]) { try SessionRecord(columns: &$0) }
                for session in sessions where logout.names(session) {
                    try database.run("DELETE FROM session WHERE id = ?", [session.id])
                    try Self.remember(logoutOf: session.key, database, now)
                    keys.append(session.key)
                    if session.expiresAt > now { ended.append(session) }
                }
            }
            return (.ended(ended), keys)
        }
        for key in keys { memory.forget(key) }
        return result
    }
}

extension PendingLogout {
    fileprivate static let columns = """
        name_id, name_format, name_qualifier, sp_name_qualifier, sp_provided_id, session_index, handle, request_id, requestor, mvpd, redirect_url, \
        expires_at_ms, hint
        """

    fileprivate init(columns: inout ColumnReader) {
        let name = SubjectName(
            value: columns.next(), format: columns.next(), nameQualifier: columns.next(), serviceProviderQualifier: columns.next(),
            serviceProvidedID: columns.next(), sessionIndex: columns.next())
        self.init(
            handle: columns.next(), requestID: columns.next(), requestor: columns.next(), mvpd: columns.next(), name: name,
            redirectURL: columns.next(), expiresAt: columns.next(), hint: columns.next())
    }
}
