package import Clocks
package import Faults
internal import Storage

extension SqliteAuthenticationStore: LogoutStore {
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

    package func visit(_ handle: SecretDigest, as request: UpstreamRequestID, now: Timestamp) async throws(Fault) -> PendingLogout? {
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

    package func finish(_ handle: SecretDigest, request: UpstreamRequestID) async throws(Fault) -> Bool {
        try await store.change("DELETE FROM pending_logout WHERE handle = ? AND request_id = ?", [handle, request]) == 1
    }

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
