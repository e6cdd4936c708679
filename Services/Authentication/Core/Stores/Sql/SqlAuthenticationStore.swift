package import Clocks
package import Contracts
package import CoreMetrics
package import Faults
package import Storage

/// The service's state in a store, which copies of the service may share.
///
/// A method that changes something returns when the change is durable. All of them throw faults of the storage (`unavailable`, `overloaded`,
/// `storage_full`, `internal`), which are never statements about a credential.
package final class SqlAuthenticationStore: Sendable {
    package let store: Store
    /// Nothing of former owners is told.
    package let lives = EntryLives()
    package let clients: CoherentCache<ClientID, Client>
    package let memory: SessionMemory
    /// A device that waits for its person polls by its code (rest-v2 §2.8). A change of a code's row removes it from the cache.
    package let codes: CoherentCache<RegistrationCodeText, RegistrationRecord>
    /// The upstream's parts of sessions that came by an upstream; `nil`: the session has none. It comes with the session, or never.
    package let parts: CoherentCache<SessionID, UpstreamPart?>
    /// Devices without a login under way at an upstream: nearly all of those that ask.
    package let settled: CoherentCache<SessionKey, Bool>
    /// The logins of a device that upstreams ended lately; nearly always none.
    package let gone: CoherentCache<SessionKey, [GoneLogin]>
    /// Where a person is signed in: which devices' sessions, also expired ones; the sessions themselves are in `memory`. A new login removes the
    /// person's entry. A device that is listed and has no such login any more is passed over.
    package let logins: CoherentCache<LoginPlace, [SessionKey]>
    package let rememberedLogins = Counter(label: "boxoffice_authentication_login_lookups_total", dimensions: [("source", "memory")])
    let readLogins = Counter(label: "boxoffice_authentication_login_lookups_total", dimensions: [("source", "store")])

    /// The changes that must be heard before memory answers for a client; `nil`: memory is never out of date.
    package let changes: (any StoreChanges)?

    /// - Parameter cachedSessions: Sessions kept in memory, devices known to have none, codes, and people whose logins are known there, of each at
    ///   least 2.
    package init(_ store: Store, cachedSessions: Int = 65_536) {
        self.store = store
        changes = store.isCoherent ? store.changes : ClientEpoch.watching(store)
        clients = CoherentCache(capacity: 16_384, changes: changes)
        memory = SessionMemory(capacity: cachedSessions, of: store)
        codes = CoherentCache(capacity: cachedSessions, of: store)
        parts = CoherentCache(capacity: cachedSessions, of: store)
        settled = CoherentCache(capacity: cachedSessions, of: store)
        gone = CoherentCache(capacity: cachedSessions, of: store)
        logins = CoherentCache(capacity: cachedSessions, of: store)
        memory.watched(by: store)
        store.watch(clients, "clients")
        store.watch(codes, "codes")
        store.watch(parts, "bridged parts")
        store.watch(settled, "bridged logins")
        store.watch(gone, "ended logins")
        store.watch(logins, "logins")
    }

    /// True when other copies of the service on other hosts share it, and its clock.
    package var isDistributed: Bool { store.isDistributed }

    /// To be called when the session may be in the store by now, before anybody hears of it.
    func noteStart(of session: SessionRecord) {
        memory.forget(session.key)
        if session.isLogin { logins.forget(LoginPlace(subscriber: session.subscriber, requestor: session.key.requestor)) }
    }
}

/// A person at an MVPD, as one requestor's devices may be signed in.
package struct LoginPlace: Hashable, Sendable {
    package let subscriber: Subscriber
    package let requestor: RequestorID

    package init(subscriber: Subscriber, requestor: RequestorID) {
        (self.subscriber, self.requestor) = (subscriber, requestor)
    }
}

extension RegistrationCodeText: ColumnValue {
    package var stored: StoredValue { .text(text) }

    package init(_ row: any RowSource, _ column: Int) { self.init(typed: row.text(column)) }
}

extension ProviderSubject {
    /// The attributes as they are kept in a column: a `SessionSubject` with nothing else in it.
    package func attributesColumn() throws(Fault) -> [UInt8] { try SessionSubject(attributes: attributes).serialized() }

    package static func attributes(column: [UInt8]) throws(Fault) -> [UserAttribute] { try SessionSubject(serialized: column).attributes }
}

/// Logins that other devices of the same platform identity, or of the person of a service token, may take over (rest-v1 §4.9, rest-v2 §5 J).
extension SqlAuthenticationStore {
    /// The sessions of a platform identity that have not expired (rest-v1 §4.9).
    package func sessions(of identity: PlatformIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        let live: Statement = "SELECT \(SessionRecord.columns) FROM session WHERE identity = ? AND expires_at_ms > ?"
        return living(try await store.all(live, [identity, now]) { try SessionRecord(columns: &$0) })
    }

    /// The sessions of whom service tokens name, that have not expired (rest-v2 §5 J).
    package func sessions(of identity: ServiceIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        let live: Statement = "SELECT \(SessionRecord.columns) FROM session WHERE service_identity = ? AND expires_at_ms > ?"
        return living(try await store.all(live, [identity, now]) { try SessionRecord(columns: &$0) })
    }

    /// When the device was last logged out at the requestor, as long as a session from before could still be taken over.
    package func lastLogout(_ key: SessionKey, now: Timestamp) async throws(Fault) -> Timestamp? {
        try await store.value(
            "SELECT logged_out_at_ms FROM logout WHERE device_id = ? AND requestor = ? AND expires_at_ms > ?", [key.device, key.requestor, now])
    }

    /// Kept until the last login that there is now has expired: a later one is not shut out by it.
    package static func remember(logoutOf key: SessionKey, _ database: Database, _ now: Timestamp) throws {
        try database.run(logout, [key.device, key.requestor, now])
    }

    /// As `remember(logoutOf:)`.
    static func addLogout(of key: SessionKey, to plan: inout Plan, _ now: Timestamp) { plan.add(logout, [key.device, key.requestor, now]) }

    private static let logout: Statement = """
        INSERT INTO logout (device_id, requestor, logged_out_at_ms, expires_at_ms)
        SELECT ?1, ?2, ?3, latest FROM (
            SELECT max(expires_at_ms) AS latest FROM (
                SELECT max(expires_at_ms) AS expires_at_ms FROM session WHERE identity IS NOT NULL
                UNION ALL SELECT max(expires_at_ms) AS expires_at_ms FROM session WHERE service_identity IS NOT NULL
            ) AS named
        ) AS login WHERE latest > ?3
        ON CONFLICT (device_id, requestor) DO UPDATE SET logged_out_at_ms = excluded.logged_out_at_ms, expires_at_ms = excluded.expires_at_ms
        """
}

extension SqlAuthenticationStore {
    /// The result of a transaction that starts a session, and the code that it used.
    package struct Start<Result: Sendable>: Sendable {
        package let result: Result
        package var code: RegistrationCodeText?

        package init(_ result: Result, using code: RegistrationCodeText? = nil) {
            self.result = result
            self.code = code
        }
    }

    /// Runs a transaction that may start a session; memory forgets what that changes before anybody hears of it.
    /// - Throws: Faults of a write.
    package func starting<Result: Sendable>(
        _ session: SessionRecord, _ body: @escaping @Sendable (Database) throws -> Start<Result>
    ) async throws(Fault) -> Result {
        defer { noteStart(of: session) }
        do throws(Fault) {
            let start = try await store.write(body)
            if let code = start.code { codes.forget(code) }
            return start.result
        } catch {
            if session.record != nil { codes.forgetAll(after: error) }
            throw error
        }
    }
}

extension CoherentCache {
    /// The change may be in the store all the same, and nobody knows what it changed.
    package func forgetAll(after fault: Fault) {
        if fault.code != .overloaded { forgetAll() }
    }
}

extension Database {
    /// Marks the registration code of a session used, and ends a sign-in under way through it.
    /// - Returns: The code, and that there is none to be used; `nil` when it is no longer live or has been used.
    package func use(codeOf session: SessionRecord, now: Timestamp) throws -> SqlAuthenticationStore.Start<Void>? {
        guard let record = session.record else { return .init(()) }
        return try use(record, for: session, now: now).map { .init((), using: $0) }
    }

    /// - Parameter session: The session that it makes: until its end the code's maker may ask for it.
    /// - Returns: The code; `nil` when it is no longer live or has been used, or comes from before the session's person or device was erased.
    package func use(_ record: RegistrationRecordID, for session: SessionRecord, now: Timestamp) throws -> RegistrationCodeText? {
        let used: RegistrationCodeText? = try first(RegistrationRecordID.use, record.use(for: session, now: now)) { $0.next() }
        guard let code = used else { return nil }
        try run(RegistrationRecordID.endSignIns, [record])
        return code
    }
}

extension SqlAuthenticationStore {
    /// Stores it unless the reference is another owner's.
    /// - Returns: True when there was one before; `nil` when it is another owner's.
    package func put(_ secret: SealedSecret) async throws(Fault) -> Bool? {
        try await store.write { database in
            let known: String? = try database.value("SELECT owner FROM sealed_secret WHERE reference = ?", [secret.reference])
            guard known == nil || known == secret.owner else { return nil }
            try database.run(
                """
                INSERT INTO sealed_secret (reference, owner, sealed, written_at_ms) VALUES (?, ?, ?, ?)
                ON CONFLICT (reference) DO UPDATE SET sealed = excluded.sealed, written_at_ms = excluded.written_at_ms
                """, [secret.reference, secret.owner, secret.sealed, secret.writtenAt])
            return known != nil
        }
    }

    package func sealedSecret(_ reference: SecretReference) async throws(Fault) -> SealedSecret? {
        try await store.first("SELECT \(SealedSecret.columns) FROM sealed_secret WHERE reference = ?", [reference]) { SealedSecret(columns: &$0) }
    }

    /// By reference.
    package func sealedSecrets() async throws(Fault) -> [SealedSecret] {
        try await store.all("SELECT \(SealedSecret.columns) FROM sealed_secret ORDER BY reference") { SealedSecret(columns: &$0) }
    }

    /// Seals one anew, if it is still the same.
    package func reseal(_ secret: SealedSecret, as sealed: [UInt8]) async throws(Fault) {
        try await store.change("UPDATE sealed_secret SET sealed = ? WHERE reference = ? AND sealed = ?", [sealed, secret.reference, secret.sealed])
    }
}

extension SealedSecret {
    fileprivate static let columns = "reference, owner, sealed, written_at_ms"

    fileprivate init(columns: inout ColumnReader) {
        self.init(reference: columns.next(), owner: columns.next(), sealed: columns.next(), writtenAt: columns.next())
    }
}

/// The announcements of OAuth providers about their answers, by their issuer.
extension SqlAuthenticationStore {
    /// True when the provider announced that its answers name it when its document was read last.
    package func announcesIssuer(_ issuer: String) async throws(Fault) -> Bool {
        try await store.first("SELECT read_at_ms FROM announced_issuer WHERE issuer = ?", [issuer]) { $0.next() as Timestamp } != nil
    }

    package func note(_ issuer: String, announcesIssuer: Bool, at moment: Timestamp) async throws(Fault) {
        guard announcesIssuer else {
            try await store.change("DELETE FROM announced_issuer WHERE issuer = ?", [issuer])
            return
        }
        try await store.change(
            "INSERT INTO announced_issuer (issuer, read_at_ms) VALUES (?, ?) ON CONFLICT (issuer) DO UPDATE SET read_at_ms = excluded.read_at_ms",
            [issuer, moment])
    }
}

extension SqlAuthenticationStore {
    /// Remembers the digest of a nonce until a moment.
    /// - Returns: False when it is remembered already.
    package func takeNonce(_ digest: [UInt8], until end: Timestamp) async throws(Fault) -> Bool {
        try await store.change("INSERT INTO signed_nonce (digest, expires_at_ms) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", [digest, end]) > 0
    }
}

extension SqlAuthenticationStore {
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

    /// The request with that id, unless it was answered or is over.
    package func profileRequest(_ id: SamlRequestID, now: Timestamp) async throws(Fault) -> ProfileRequestRecord? {
        let live: Statement = "SELECT \(ProfileRequestRecord.columns) FROM profile_request WHERE request_id = ? AND expires_at_ms > ?"
        return try await store.first(live, [id, now]) { ProfileRequestRecord(columns: &$0) }
    }

    /// The latest of a client's requests that was not answered and is not over.
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

    /// Consumes the request, remembers the assertion and stores the session in place of the one before, as one change. When several calls name one
    /// request or one assertion, at most one completes.
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
