package import Clocks
package import Contracts
package import Faults
internal import Storage

extension SqliteAuthenticationStore: ProfileRequestStore {
    package func add(_ request: ProfileRequestRecord) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO profile_request (request_id, client_id, requestor, mvpd, platform, issuer_sent, created_at_ms, expires_at_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                request.requestID, request.clientID, request.requestor, request.mvpd, Int64(request.platform.rawValue), request.issuerSent,
                request.createdAt, request.expiresAt,
            ])
    }

    package func profileRequest(_ id: UpstreamRequestID, now: Timestamp) async throws(Fault) -> ProfileRequestRecord? {
        let live: Statement = "SELECT \(ProfileRequestRecord.columns) FROM profile_request WHERE request_id = ? AND expires_at_ms > ?"
        return try await store.first(live, [id, now]) { ProfileRequestRecord(columns: &$0) }
    }

    package func newestProfileRequest(
        client: ClientID, requestor: RequestorID, mvpd: MvpdID, platform: Platform, now: Timestamp
    ) async throws(Fault) -> ProfileRequestRecord? {
        let newest: Statement = """
            SELECT \(ProfileRequestRecord.columns) FROM profile_request
            WHERE client_id = ? AND requestor = ? AND mvpd = ? AND platform = ? AND expires_at_ms > ?
            ORDER BY created_at_ms DESC, request_id DESC LIMIT 1
            """
        return try await store.first(newest, [client, requestor, mvpd, Int64(platform.rawValue), now]) { ProfileRequestRecord(columns: &$0) }
    }

    package func complete(_ completion: PlatformCompletion, now: Timestamp) async throws(Fault) -> PlatformCompletionResult {
        defer { noteStart(of: completion.session) }
        let erased = completion.session.erasable
        let consume: Statement = """
            DELETE FROM profile_request WHERE request_id = ? AND expires_at_ms > ? AND NOT EXISTS
                (SELECT 1 FROM erased WHERE subject IN (?, ?) AND erased_at_ms >= profile_request.created_at_ms - ?)
            """
        let consumed: Arguments = [completion.requestID, now, erased.person, erased.device, ErasedSubject.clockErrorMilliseconds]
        let stored = try await store.commit { () throws(Fault) in
            var plan = Plan(for: completion.session.key.device.text)
            plan.add(consume, consumed, rows: 1)
            completion.replay.addRemembering(to: &plan)
            try completion.session.addInsertion(to: &plan)
            return plan
        }
        if stored != nil { return .completed }
        return try await store.write { database in
            guard try database.run(consume, consumed) == 1 else { return .notPending }
            guard try database.remember(completion.replay) else { return .replayed }
            try completion.session.insert(into: database)
            return .completed
        }
    }
}

extension ProfileRequestRecord {
    /// In the order in which they are read.
    fileprivate static let columns = "request_id, client_id, requestor, mvpd, platform, issuer_sent, created_at_ms, expires_at_ms"

    fileprivate init(columns: inout ColumnReader) {
        self.init(
            requestID: columns.next(), clientID: columns.next(), requestor: columns.next(), mvpd: columns.next(),
            platform: Platform(rawValue: columns.next()), issuerSent: columns.next(), createdAt: columns.next(), expiresAt: columns.next())
    }
}
