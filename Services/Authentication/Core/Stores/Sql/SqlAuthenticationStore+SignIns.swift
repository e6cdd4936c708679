package import Clocks
package import Faults
package import Storage

extension SqlAuthenticationStore {
    /// Stores a pending sign-in in place of an earlier one of the same code (rest-v1 §3.7).
    /// - Returns: False when the code is no longer live or has been used; nothing changed.
    package func begin(_ pending: PendingSignIn, now: Timestamp) async throws(Fault) -> Bool {
        let insert: Statement = """
            INSERT INTO pending_sign_in (request_id, relay_state, record_id, browser_secret, code, requestor, mvpd,
                issuer_sent, redirect_url, started_at_ms, expires_at_ms, way, number, callback, callback_of)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                coalesce((SELECT max(number) + 1 FROM pending_sign_in WHERE record_id = ?3), 0), ?14, ?15
            WHERE EXISTS (SELECT 1 FROM registration_code WHERE id = ?3 AND is_used = 0 AND expires_at_ms > ?13)
            """
        let oldest: Statement = """
            DELETE FROM pending_sign_in WHERE record_id = ?1 AND request_id NOT IN
                (SELECT request_id FROM pending_sign_in WHERE record_id = ?1 ORDER BY number DESC, started_at_ms DESC LIMIT ?2)
            """
        let stored = try await store.commit { () throws(Fault) in
            var plan = Plan(for: pending.record.text)
            plan.add(insert, pending.columns(liveAt: now), rows: 1)
            plan.add(oldest, [pending.record, PendingSignIn.most])
            return plan
        }
        if stored != nil { return true }
        return try await store.write { database in
            guard try database.run(insert, pending.columns(liveAt: now)) == 1 else { return false }
            try database.run(oldest, [pending.record, PendingSignIn.most])
            return true
        }
    }

    /// The pending sign-in with that RelayState, unless it is over.
    package func pending(_ relayState: SecretDigest, now: Timestamp) async throws(Fault) -> PendingSignIn? {
        let live: Statement = "SELECT \(PendingSignIn.columns) FROM pending_sign_in WHERE relay_state = ? AND expires_at_ms > ?"
        return try await store.first(live, [relayState, now]) { PendingSignIn(columns: &$0) }
    }

    /// Consumes a pending sign-in without a session.
    /// - Returns: False when it was consumed before.
    package func abandon(_ request: SamlRequestID) async throws(Fault) -> Bool {
        try await store.change("DELETE FROM pending_sign_in WHERE request_id = ?", [request]) == 1
    }

    /// Consumes the pending sign-in, remembers the assertion and marks the code used. The session replaces that client's at the MVPD. All of it is
    /// one change. When several calls name one request or one assertion, at most one completes.
    package func complete(_ completion: SignInCompletion, now: Timestamp) async throws(Fault) -> SignInCompletionResult {
        let session = completion.session
        defer { noteStart(of: session) }
        let consume: Statement = "DELETE FROM pending_sign_in WHERE request_id = ? AND expires_at_ms > ?"
        let stored = try await store.commit { () throws(Fault) in
            var plan = Plan(for: session.key.device.text)
            plan.add(consume, [completion.requestID, now], rows: 1)
            completion.replay.addRemembering(to: &plan)
            completion.record.addUse(to: &plan, for: session, now: now)
            try session.addInsertion(to: &plan)
            return plan
        }
        if stored != nil { return .completed }
        return try await starting(session) { database in
            guard try database.run(consume, [completion.requestID, now]) == 1 else { return Start(.notPending) }
            guard try database.remember(completion.replay) else { return Start(.replayed) }
            guard let code = try database.use(completion.record, for: session, now: now) else { return Start(.codeGone) }
            try session.insert(into: database)
            return Start(.completed, using: code)
        }
    }
}

extension Database {
    /// Remembers an assertion, or a logout of an MVPD's, that counts now.
    /// - Returns: False when it counted before.
    package func remember(_ replay: SignInCompletion.Replay) throws -> Bool {
        try run(SignInCompletion.Replay.insert, [replay.issuer, replay.assertionID, replay.expiresAt]) == 1
    }
}

extension SignInCompletion.Replay {
    fileprivate static let insert: Statement = """
        INSERT INTO used_assertion (issuer, assertion_id, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT (issuer, assertion_id) DO NOTHING
        """

    /// As `Database.remember`.
    func addRemembering(to plan: inout Plan) { plan.add(Self.insert, [issuer, assertionID, expiresAt], rows: 1) }
}

extension PendingSignIn {
    /// In the order in which they are read.
    fileprivate static let columns = """
        browser_secret, request_id, relay_state, record_id, code, requestor, mvpd, issuer_sent, redirect_url, started_at_ms, expires_at_ms, way,
        callback, callback_of
        """

    /// In the order of the insert and its condition.
    fileprivate func columns(liveAt now: Timestamp) -> Arguments {
        [
            requestID, relayState, record, browserSecret?.bytes ?? [], code, requestor, mvpd, issuerSent, redirectURL, startedAt,
            expiresAt, way.rawValue, now, callback?.shared ?? "", callback?.holder ?? "",
        ]
    }

    fileprivate init(columns: inout ColumnReader) {
        let secret: [UInt8] = columns.next()
        self.init(
            requestID: columns.next(), relayState: columns.next(), browserSecret: secret.isEmpty ? nil : SecretDigest(bytes: secret),
            record: columns.next(), code: columns.next(), requestor: columns.next(), mvpd: columns.next(), issuerSent: columns.next(),
            redirectURL: columns.next(), startedAt: columns.next(), expiresAt: columns.next(), way: SignInWay(rawValue: columns.next()) ?? .saml,
            callback: OAuthCallback(columns: &columns))
    }
}

extension OAuthCallback {
    /// `nil` where the row has none.
    package init?(columns: inout ColumnReader) {
        (shared, holder) = (columns.next(), columns.next())
        if shared.isEmpty { return nil }
    }
}
