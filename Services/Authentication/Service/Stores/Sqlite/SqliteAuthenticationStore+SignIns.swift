internal import Clocks
internal import Faults
internal import Foundation
internal import Storage

extension SqliteAuthenticationStore: SignInStore {
    func begin(_ pending: PendingSignIn, now: Timestamp) async throws(Fault) -> Bool {
        try await store.write { database in
            let sql = """
                INSERT INTO pending_sign_in (request_id, relay_state, record_id, browser_secret, code, requestor, mvpd,
                    issuer_sent, redirect_url, started_at_ms, expires_at_ms, way)
                SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
                WHERE EXISTS (SELECT 1 FROM registration_code WHERE id = ? AND is_used = 0 AND expires_at_ms > ?)
                """
            try database.cachedStatement(sql: sql).execute(arguments: pending.columns(liveAt: now))
            guard database.changesCount == 1 else { return false }
            let oldest = """
                DELETE FROM pending_sign_in WHERE record_id = ?1 AND rowid NOT IN
                    (SELECT rowid FROM pending_sign_in WHERE record_id = ?1 ORDER BY rowid DESC LIMIT ?2)
                """
            try database.cachedStatement(sql: oldest).execute(arguments: [pending.record, PendingSignIn.most])
            return true
        }
    }

    func pending(_ relayState: SecretDigest, now: Timestamp) async throws(Fault) -> PendingSignIn? {
        try await store.read { database in
            let sql = "SELECT * FROM pending_sign_in WHERE relay_state = ? AND expires_at_ms > ?"
            return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [relayState, now]).map(PendingSignIn.init(row:))
        }
    }

    func abandon(_ request: UpstreamRequestID) async throws(Fault) -> Bool {
        try await store.write { database in
            try database.cachedStatement(sql: "DELETE FROM pending_sign_in WHERE request_id = ?").execute(arguments: [request])
            return database.changesCount == 1
        }
    }

    func complete(_ completion: SignInCompletion, now: Timestamp) async throws(Fault) -> SignInCompletionResult {
        let session = completion.session
        defer { noteStart(of: session) }
        return try await store.write { database in
            try database.cachedStatement(sql: "DELETE FROM pending_sign_in WHERE request_id = ? AND expires_at_ms > ?")
                .execute(arguments: [completion.requestID, now])
            guard database.changesCount == 1 else { return .notPending }
            let replay = "INSERT INTO used_assertion (issuer, assertion_id, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            try database.cachedStatement(sql: replay)
                .execute(arguments: [completion.replay.issuer, completion.replay.assertionID, completion.replay.expiresAt])
            guard database.changesCount == 1 else { return .replayed }
            guard try database.use(completion.record, now: now) else { return .codeGone }
            try session.insert(into: database)
            return .completed
        }
    }
}

extension PendingSignIn {
    /// In the order of the insert and its condition.
    fileprivate func columns(liveAt now: Timestamp) -> StatementArguments {
        [
            requestID, relayState, record, browserSecret.map { Data($0.bytes) } ?? Data(), code, requestor, mvpd, issuerSent, redirectURL, startedAt,
            expiresAt, way.rawValue,
            record, now,
        ]
    }

    fileprivate init(row: Row) {
        self.init(
            requestID: row["request_id"], relayState: row["relay_state"],
            browserSecret: (row["browser_secret"] as Data).isEmpty ? nil : row["browser_secret"], record: row["record_id"],
            code: row["code"], requestor: row["requestor"], mvpd: row["mvpd"], issuerSent: row["issuer_sent"],
            redirectURL: row["redirect_url"], startedAt: row["started_at_ms"], expiresAt: row["expires_at_ms"],
            way: SignInWay(rawValue: row["way"]) ?? .saml)
    }
}
