package import Clocks
package import Contracts
package import Faults
internal import Storage

/// Test sign-ins, apart from those of viewers.
extension SqlAuthenticationStore {
    /// - Returns: False when as many as may be are under way; nothing changed. Those of a schedule take no other's place.
    package func add(_ test: TestSignInRecord, now: Timestamp) async throws(Fault) -> Bool {
        guard case .waiting(let ticket) = test.stage else { return false }
        let insert: Statement = """
            INSERT INTO test_sign_in (handle, id, requestor, mvpd, programmer, configuration, way, expires_at_ms, request_id, browser_secret,
                issuer_sent, started_at_ms, is_scheduled)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '', ?9, '', 0, ?12
            WHERE ?12 = 1 OR (SELECT count(*) FROM test_sign_in WHERE expires_at_ms > ?10 AND is_scheduled = 0) < ?11
            """
        return try await store.change(
            insert,
            [
                ticket, test.id, test.requestor, test.mvpd, test.programmer, test.configuration, test.way.rawValue, test.expiresAt, [] as [UInt8],
                now,
                TestSignInRecord.most, test.isScheduled ? 1 : 0,
            ], of: "test_sign_in") == 1
    }

    /// The one with that digest of its ticket, of `RelayState` or of `state`, unless it is over.
    package func testSignIn(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> TestSignInRecord? {
        let live: Statement = "SELECT \(TestSignInRecord.columns) FROM test_sign_in WHERE handle = ? AND expires_at_ms > ?"
        return try await store.first(live, [handle, now]) { TestSignInRecord(columns: &$0) }
    }

    /// Puts it at its next stage.
    /// - Parameter before: The digest that it was known by.
    /// - Returns: False when it is over, or somebody else was first; nothing changed.
    package func open(
        _ test: TestSignInID, from before: SecretDigest, _ request: TestSignInRecord.Request, _ way: SignInWay, now: Timestamp
    ) async throws(Fault) -> Bool {
        let open: Statement = """
            UPDATE test_sign_in SET handle = ?, request_id = ?, browser_secret = ?, issuer_sent = ?, started_at_ms = ?, way = ?,
                callback = ?, callback_of = ?
            WHERE handle = ? AND id = ? AND expires_at_ms > ?
            """
        return try await store.change(
            open,
            [
                request.relayState, request.id, request.browserSecret.bytes, request.issuerSent, request.startedAt, way.rawValue,
                request.callback?.shared ?? "", request.callback?.holder ?? "", before, test, now,
            ], of: "test_sign_in") == 1
    }

    /// Ends it without an answer, if it is there.
    package func drop(_ test: TestSignInID) async throws(Fault) {
        try await store.change("DELETE FROM test_sign_in WHERE id = ?", [test], of: "test_sign_in")
    }

    /// Consumes it, and remembers the assertion that it took, as one change.
    /// - Parameter replay: `nil`: the answer had none that counts.
    package func finish(
        _ test: TestSignInID, _ handle: SecretDigest, _ replay: SignInCompletion.Replay?, now: Timestamp
    ) async throws(Fault) -> TestSignInEnd {
        try await store.write { database in
            let taken = try database.run("DELETE FROM test_sign_in WHERE handle = ? AND id = ? AND expires_at_ms > ?", [handle, test, now])
            guard taken == 1 else { return .notPending }
            guard let replay else { return .ended }
            return try database.remember(replay) ? .ended : .replayed
        }
    }
}

extension TestSignInRecord {
    /// In the order in which they are read.
    fileprivate static let columns = """
        handle, id, requestor, mvpd, programmer, configuration, way, expires_at_ms, request_id, browser_secret, issuer_sent, started_at_ms,
        is_scheduled, callback, callback_of
        """

    fileprivate init(columns: inout ColumnReader) {
        let handle: SecretDigest = columns.next()
        (id, requestor, mvpd, programmer) = (columns.next(), columns.next(), columns.next(), columns.next())
        configuration = columns.next()
        way = SignInWay(rawValue: columns.next()) ?? .saml
        expiresAt = columns.next()
        let requestID: SamlRequestID = columns.next()
        let secret: [UInt8] = columns.next()
        let issuerSent: String = columns.next()
        let startedAt: Timestamp = columns.next()
        let scheduled: Int = columns.next()
        isScheduled = scheduled == 1
        let callback = OAuthCallback(columns: &columns)
        guard !secret.isEmpty else {
            stage = .waiting(ticket: handle)
            return
        }
        stage = .open(
            Request(
                id: requestID, relayState: handle, browserSecret: SecretDigest(bytes: secret), issuerSent: issuerSent, startedAt: startedAt,
                callback: callback))
    }
}

/// When scheduled sign-ins are due, and how the latest ended: for all copies of the service.
extension SqlAuthenticationStore {
    /// Takes the turn when it is due: the next one is due then at `next`. When several calls come at a time, at most one takes it.
    /// - Parameters:
    ///   - first: When an MVPD's first one is due.
    ///   - next: From this one on; what is due later than that was planned by another schedule, and is due now.
    package func takeTurn(_ mvpd: MvpdID, first: Timestamp, next: Timestamp, now: Timestamp) async throws(Fault) -> ScheduledSignInTurn {
        let known = try await store.first("SELECT due_at_ms, state FROM scheduled_sign_in WHERE mvpd = ?", [mvpd]) { columns in
            (due: columns.next() as Timestamp, state: columns.next() as [UInt8])
        }
        guard let known else {
            let insert: Statement = "INSERT INTO scheduled_sign_in (mvpd, due_at_ms, state) VALUES (?, ?, ?) ON CONFLICT (mvpd) DO NOTHING"
            try await store.change(insert, [mvpd, first, [] as [UInt8]], of: "scheduled_sign_in")
            return .notYet(until: first, latest: nil)
        }
        let state = known.state.isEmpty ? nil : try ScheduledSignInState(serialized: known.state)
        guard known.due <= now || known.due > next else { return .notYet(until: known.due, latest: state) }
        // The first caller moves it.
        let take: Statement = "UPDATE scheduled_sign_in SET due_at_ms = ? WHERE mvpd = ? AND due_at_ms = ?"
        let isMine = try await store.change(take, [next, mvpd, known.due], of: "scheduled_sign_in") == 1
        return isMine ? .mine(before: state) : .notYet(until: next, latest: state)
    }

    /// Remembers how one ended.
    package func keep(_ state: ScheduledSignInState, of mvpd: MvpdID) async throws(Fault) {
        let update: Statement = "UPDATE scheduled_sign_in SET state = ? WHERE mvpd = ?"
        try await store.change(update, [try state.serialized(), mvpd], of: "scheduled_sign_in")
    }

    /// Returns how the latest of each MVPD ended, by MVPD.
    package func scheduledSignIns() async throws(Fault) -> [ScheduledSignInState] {
        let states = try await store.all("SELECT state FROM scheduled_sign_in ORDER BY mvpd") { $0.next() as [UInt8] }
        var read: [ScheduledSignInState] = []
        for state in states where !state.isEmpty { read.append(try ScheduledSignInState(serialized: state)) }
        return read
    }
}
