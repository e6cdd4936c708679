internal import Clocks
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: LogoutStore {
    func add(_ logouts: [PendingLogout]) async throws(Fault) {
        try await store.write { database in
            let sql = """
                INSERT INTO pending_logout (handle, requestor, mvpd, name_id, name_format, name_qualifier, sp_name_qualifier, sp_provided_id,
                    session_index, redirect_url, expires_at_ms)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            for logout in logouts {
                let name = logout.name
                try database.cachedStatement(sql: sql).execute(arguments: [
                    logout.handle, logout.requestor, logout.mvpd, name.value, name.format, name.nameQualifier, name.serviceProviderQualifier,
                    name.serviceProvidedID, name.sessionIndex, logout.redirectURL, logout.expiresAt,
                ])
            }
        }
    }

    func visit(_ handle: SecretDigest, as request: UpstreamRequestID, now: Timestamp) async throws(Fault) -> PendingLogout? {
        try await store.write { database in
            let sql = "UPDATE pending_logout SET request_id = ? WHERE handle = ? AND expires_at_ms > ? RETURNING *"
            return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [request, handle, now]).map(PendingLogout.init(row:))
        }
    }

    func pendingLogout(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> PendingLogout? {
        try await store.read { database in
            let sql = "SELECT * FROM pending_logout WHERE handle = ? AND expires_at_ms > ?"
            return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [handle, now]).map(PendingLogout.init(row:))
        }
    }

    func finish(_ handle: SecretDigest, request: UpstreamRequestID) async throws(Fault) -> Bool {
        try await store.write { database in
            try database.cachedStatement(sql: "DELETE FROM pending_logout WHERE handle = ? AND request_id = ?").execute(arguments: [handle, request])
            return database.changesCount == 1
        }
    }

    func end(_ logout: MvpdLogout, now: Timestamp) async throws(Fault) -> MvpdLogoutResult {
        let (result, keys) = try await store.write { database -> (MvpdLogoutResult, [SessionKey]) in
            let replay = "INSERT INTO used_assertion (issuer, assertion_id, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            try database.cachedStatement(sql: replay)
                .execute(arguments: [logout.replay.issuer, logout.replay.assertionID, logout.replay.expiresAt])
            guard database.changesCount == 1 else { return (.replayed, []) }
            var keys: [SessionKey] = []
            var ended: [SessionRecord] = []
            for mvpd in logout.mvpds {
                let sql = "SELECT \(SessionRecord.columns) FROM session WHERE mvpd = ? AND name_id = ?"
                let sessions = try database.all(sql, arguments: [mvpd, logout.name.value]) { try SessionRecord(columns: &$0) }
                for session in sessions where logout.names(session) {
                    try database.cachedStatement(sql: "DELETE FROM session WHERE id = ?").execute(arguments: [session.id])
                    try Self.remember(logoutOf: session.key, database, now)
                    keys.append(session.key)
                    if session.expiresAt > now { ended.append(session) }
                }
            }
            return (.ended(ended), keys)
        }
        for key in keys { sessions.forget(key) }
        return result
    }
}

extension PendingLogout {
    fileprivate init(row: Row) {
        let name = SubjectName(
            value: row["name_id"], format: row["name_format"], nameQualifier: row["name_qualifier"],
            serviceProviderQualifier: row["sp_name_qualifier"], serviceProvidedID: row["sp_provided_id"], sessionIndex: row["session_index"])
        self.init(
            handle: row["handle"], requestID: row["request_id"], requestor: row["requestor"], mvpd: row["mvpd"], name: name,
            redirectURL: row["redirect_url"], expiresAt: row["expires_at_ms"])
    }
}
