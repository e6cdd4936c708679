internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: ProfileRequestStore {
    func add(_ request: ProfileRequestRecord) async throws(Fault) {
        try await store.write { database in
            let sql = """
                INSERT INTO profile_request (request_id, client_id, requestor, mvpd, platform, issuer_sent, created_at_ms, expires_at_ms)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
            try database.cachedStatement(sql: sql).execute(arguments: [
                request.requestID, request.clientID, request.requestor, request.mvpd, Int64(request.platform.rawValue), request.issuerSent,
                request.createdAt, request.expiresAt,
            ])
        }
    }

    func profileRequest(_ id: UpstreamRequestID, now: Timestamp) async throws(Fault) -> ProfileRequestRecord? {
        try await store.read { database in
            let sql = "SELECT * FROM profile_request WHERE request_id = ? AND expires_at_ms > ?"
            return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [id, now]).map(ProfileRequestRecord.init(row:))
        }
    }

    func newestProfileRequest(
        client: ClientID, requestor: RequestorID, mvpd: MvpdID, platform: Platform, now: Timestamp
    ) async throws(Fault) -> ProfileRequestRecord? {
        try await store.read { database in
            let sql = """
                SELECT * FROM profile_request WHERE client_id = ? AND requestor = ? AND mvpd = ? AND platform = ? AND expires_at_ms > ?
                ORDER BY created_at_ms DESC, request_id DESC LIMIT 1
                """
            let statement = try database.cachedStatement(sql: sql)
            return try Row.fetchOne(statement, arguments: [client, requestor, mvpd, Int64(platform.rawValue), now])
                .map(ProfileRequestRecord.init(row:))
        }
    }

    func complete(_ completion: PlatformCompletion, now: Timestamp) async throws(Fault) -> PlatformCompletionResult {
        defer { noteStart(of: completion.session) }
        return try await store.write { database in
            try database.cachedStatement(sql: "DELETE FROM profile_request WHERE request_id = ? AND expires_at_ms > ?")
                .execute(arguments: [completion.requestID, now])
            guard database.changesCount == 1 else { return .notPending }
            let replay = "INSERT INTO used_assertion (issuer, assertion_id, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            try database.cachedStatement(sql: replay)
                .execute(arguments: [completion.replay.issuer, completion.replay.assertionID, completion.replay.expiresAt])
            guard database.changesCount == 1 else { return .replayed }
            try completion.session.insert(into: database)
            return .completed
        }
    }
}

extension ProfileRequestRecord {
    fileprivate init(row: Row) {
        self.init(
            requestID: row["request_id"], clientID: row["client_id"], requestor: row["requestor"], mvpd: row["mvpd"],
            platform: Platform(rawValue: row["platform"]), issuerSent: row["issuer_sent"], createdAt: row["created_at_ms"],
            expiresAt: row["expires_at_ms"])
    }
}
