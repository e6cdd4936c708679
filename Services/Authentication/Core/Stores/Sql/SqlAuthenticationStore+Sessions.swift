package import Clocks
internal import Contracts
package import Faults
package import Storage

extension SqlAuthenticationStore {
    /// The sessions of a device at a requestor, at most one for each client and MVPD, the newest first. Those that have expired and are still
    /// remembered are included.
    package func sessions(_ key: SessionKey) async throws(Fault) -> [SessionRecord] {
        let epochs: SessionMemory.Epochs
        switch memory.lookup(key) {
        case .sessions(let sessions): return living(sessions)
        case .absent: return []
        case .unknown(let current): epochs = current
        }
        let found = try await store.all(SessionRecord.byKey, [key.device, key.requestor]) { try SessionRecord(columns: &$0) }
        memory.offer(found, for: key, readIn: epochs)
        return living(found)
    }

    /// Without what is another programmer's.
    func living(_ sessions: [SessionRecord]) -> [SessionRecord] { lives.covered(sessions) }

    /// Stores a session that nobody signed in for, in place of the one that the client's device has at the MVPD. The registration code that it came
    /// through is marked used, and a sign-in under way through it ends.
    /// - Returns: False when that code is no longer live or has been used; nothing changed.
    package func start(_ session: SessionRecord, now: Timestamp) async throws(Fault) -> Bool {
        defer { noteStart(of: session) }
        if try await store.commit({ () throws(Fault) in try session.plan(now: now) }) != nil { return true }
        return try await starting(session) { database in
            guard let code = try database.use(codeOf: session, now: now) else { return Start(false) }
            try session.insert(into: database)
            return Start(true, using: code.code)
        }
    }

    /// Gives a session the attributes that it has after the update, all of them or none.
    /// - Returns: False when the update does not apply to the session that the device has now; nothing changed.
    package func update(_ update: AttributeUpdate, now: Timestamp) async throws(Fault) -> Bool {
        defer { memory.forget(update.key) }
        return try await store.write { database in
            guard let after = update.applied(to: try database.sessions(update.key), now: now) else { return false }
            try database.run(
                "UPDATE session SET attributes = ?, updated_at_ms = ?, household = ? WHERE id = ?",
                [try after.subject.attributesColumn(), after.updatedAt, Household.mark(of: after.subject.attributes), after.id])
            return true
        }
    }

    /// Removes the device's sessions at these requestors that its claims may see, and remembers the logout at each.
    /// - Returns: Those that had not expired.
    package func end(device: DeviceID, requestors: [RequestorID], claims: DeviceClaims, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        defer {
            for requestor in requestors { forgetEnd(SessionKey(device: device, requestor: requestor)) }
        }
        let end: Statement = """
            DELETE FROM session WHERE device_id = ? AND requestor = ? AND (app_id = '' OR ? IN ('', app_id)) AND ? IN ('', device_user)
            RETURNING \(SessionRecord.columns)
            """
        let stored = try await store.commit { () throws(Fault) in
            var plan = Plan(for: device.text)
            for requestor in requestors {
                plan.add(Self.outboxOfDevice, Self.outbox([device, requestor, claims.appID, claims.deviceUser], now))
                plan.add(end, [device, requestor, claims.appID, claims.deviceUser])
                plan.add(Self.goneOfDevice, [device, requestor])
                Self.addLogout(of: SessionKey(device: device, requestor: requestor), to: &plan, now)
            }
            return plan
        }
        if let stored { return living(try Self.ended(stored, now)) }
        return living(
            try await store.write { database in
                var ended: [SessionRecord] = []
                for requestor in requestors {
                    try database.run(Self.outboxOfDevice, Self.outbox([device, requestor, claims.appID, claims.deviceUser], now))
                    let sessions = try database.all(end, [device, requestor, claims.appID, claims.deviceUser]) { try SessionRecord(columns: &$0) }
                    ended += sessions.filter { $0.expiresAt > now }
                    try database.run(Self.goneOfDevice, [device, requestor])
                    try Self.remember(logoutOf: SessionKey(device: device, requestor: requestor), database, now)
                }
                return ended
            })
    }

    /// Removes the session that a client's device has at an MVPD, and remembers the logout.
    /// - Returns: `nil` when there was none, or it had expired.
    package func end(_ key: SessionKey, client: ClientID, mvpd: MvpdID, now: Timestamp) async throws(Fault) -> SessionRecord? {
        defer { forgetEnd(key) }
        let end: Statement = """
            DELETE FROM session WHERE device_id = ? AND requestor = ? AND client_id = ? AND mvpd = ? RETURNING \(SessionRecord.columns)
            """
        let stored = try await store.commit { () throws(Fault) in
            var plan = Plan(for: key.device.text)
            plan.add(Self.outboxOfClient, Self.outbox([key.device, key.requestor, client, mvpd], now))
            plan.add(end, [key.device, key.requestor, client, mvpd])
            plan.add(Self.goneAtMvpd, [key.device, key.requestor, mvpd])
            Self.addLogout(of: key, to: &plan, now)
            return plan
        }
        if let stored { return living(try Self.ended(stored, now)).first }
        let ended = try await store.write { database in
            try database.run(Self.outboxOfClient, Self.outbox([key.device, key.requestor, client, mvpd], now))
            let ended = try database.first(end, [key.device, key.requestor, client, mvpd]) { try SessionRecord(columns: &$0) }
            try database.run(Self.goneAtMvpd, [key.device, key.requestor, mvpd])
            try Self.remember(logoutOf: key, database, now)
            return ended.flatMap { $0.expiresAt > now ? $0 : nil }
        }
        return living(ended.map { [$0] } ?? []).first
    }

    /// An upstream hears of a session's end by the one who ends it, at once. If that one dies, others tell it after this time.
    private static let outboxRest: Duration = .seconds(5)

    /// Keeps in the commit that ends sessions that upstreams have to hear of it: nothing may come in between (bridge §10.2).
    /// - Parameter condition: The sessions, by the arguments from `?3` on, of which the first two are device and requestor.
    private static func outbox(where condition: String) -> Statement {
        """
        UPDATE bridge_session SET logout_ms = ?1, next_try_ms = ?2
        WHERE device_id = ?3 AND requestor = ?4 AND logout_ms = 0 AND is_suspect < 3 AND kind NOT IN ('temporary', 'degraded')
            AND session_id IN (SELECT id FROM session WHERE device_id = ?3 AND requestor = ?4 AND \(condition))
        """
    }

    private static let outboxOfDevice = outbox(where: "(app_id = '' OR ?5 IN ('', app_id)) AND ?6 IN ('', device_user)")
    private static let outboxOfClient = outbox(where: "client_id = ?5 AND mvpd = ?6")

    /// Who signs out is nobody any more: a login that an upstream ended before is neither told nor taken again (bridge §8.1).
    private static let goneOfDevice: Statement =
        "DELETE FROM bridge_session WHERE device_id = ? AND requestor = ? AND is_suspect >= 3 AND logout_ms = 0"
    private static let goneAtMvpd: Statement =
        "DELETE FROM bridge_session WHERE device_id = ? AND requestor = ? AND mvpd = ? AND is_suspect >= 3 AND logout_ms = 0"

    private func forgetEnd(_ key: SessionKey) {
        memory.forget(key)
        gone.forget(key)
    }

    private static func outbox(_ sessions: Arguments, _ now: Timestamp) -> Arguments { [now, now + outboxRest] + sessions }

    /// The sessions that the second of each four statements of a plan ended, without those that were over.
    private static func ended(_ stored: [any StoredRows], _ now: Timestamp) throws(Fault) -> [SessionRecord] {
        do {
            return try stride(from: 1, to: stored.count, by: 4).flatMap { try stored[$0].all { try SessionRecord(columns: &$0) } }
                .filter { $0.expiresAt > now }
        } catch {
            throw .unexpected(error)
        }
    }
}

extension Database {
    /// The sessions of a device at a requestor, the newest first.
    package func sessions(_ key: SessionKey) throws -> [SessionRecord] {
        try all(SessionRecord.byKey, [key.device, key.requestor]) { try SessionRecord(columns: &$0) }
    }
}

extension RegistrationRecordID {
    /// Nobody needs the platform's tokens of a code that is over. Both engines take this for an empty value.
    static let withoutTokens = "platform_tokens = coalesce(substr(platform_tokens, 1, 0), platform_tokens)"

    package static let use: Statement = """
        UPDATE registration_code
        SET is_used = 1, used_at_ms = ?1, kept_until_ms = CASE WHEN expires_at_ms > ?3 THEN expires_at_ms ELSE ?3 END, \(withoutTokens)
        WHERE id = ?2 AND is_used = 0 AND expires_at_ms > ?1
            AND NOT EXISTS (SELECT 1 FROM erased WHERE subject IN (?4, ?5) AND erased_at_ms >= registration_code.generated_at_ms - ?6)
        RETURNING code
        """
    static let endSignIns: Statement = "DELETE FROM pending_sign_in WHERE record_id = ?"

    /// As `Database.use`.
    func addUse(to plan: inout Plan, for session: SessionRecord, now: Timestamp) {
        plan.add(Self.use, use(for: session, now: now), rows: 1)
        plan.add(Self.endSignIns, [self])
    }

    /// The arguments of the statement `use`: a code from before its person or device was erased makes no session of theirs.
    package func use(for session: SessionRecord, now: Timestamp) -> Arguments {
        let erased = session.erasable
        return [now, self, session.expiresAt, erased.person, erased.device, ErasedSubject.clockErrorMilliseconds]
    }
}

extension SessionRecord {
    /// In the order in which they are read and written.
    package static let columns = """
        device_id, requestor, id, mvpd, record_id, app_id, device_user, client_id, user_id, upstream_user_id, name_id, name_format, name_qualifier, \
        sp_name_qualifier, sp_provided_id, session_index, is_home_based, attributes, created_at_ms, expires_at_ms, kind, rule, identity, trial, \
        authenticated_at_ms, updated_at_ms, device, upstream, service_identity
        """

    static let byKey: Statement = """
        SELECT \(columns) FROM session WHERE device_id = ? AND requestor = ? ORDER BY number DESC
        """
    private static let same: Statement = "DELETE FROM session WHERE device_id = ? AND requestor = ? AND client_id = ? AND mvpd = ?"
    private static let beyondMost: Statement = """
        DELETE FROM session WHERE device_id = ?1 AND requestor = ?2 AND id NOT IN
            (SELECT id FROM session WHERE device_id = ?1 AND requestor = ?2 ORDER BY number DESC LIMIT ?3)
        """
    /// A device id that many devices share would let a place grow without end; the oldest sessions go.
    private static let most = 64
    private static let insertion: Statement = """
        INSERT INTO session (\(columns), household, number)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29,
            ?30, (SELECT coalesce(max(number) + 1, 0) FROM session WHERE device_id = ?1 AND requestor = ?2)
        WHERE NOT EXISTS (SELECT 1 FROM erased WHERE subject IN (?31, ?32) AND erased_at_ms >= ?25)
        """

    /// In place of the session that the client's device has at the requestor and the MVPD; with that go its tokens.
    /// - Throws: `authentication_session_missing` where it comes of a login from before its person was erased.
    package func insert(into database: Database) throws {
        try insertion { statement, arguments, rows in
            let changed = try database.run(statement, arguments)
            guard rows.map({ $0 == changed }) ?? true else { throw SessionState.nobody }
        }
    }

    /// The changes that `start` makes.
    package func plan(now: Timestamp) throws(Fault) -> Plan {
        var plan = Plan(for: key.device.text)
        record?.addUse(to: &plan, for: self, now: now)
        try addInsertion(to: &plan)
        return plan
    }

    /// As `insert`.
    func addInsertion(to plan: inout Plan) throws(Fault) {
        do {
            try insertion { plan.add($0, $1, rows: $2) }
        } catch {
            throw .unexpected(error)
        }
    }

    /// - Parameter run: Called with each statement, its arguments, and how many rows it must change; `nil`: any.
    private func insertion(_ run: (Statement, Arguments, Int?) throws -> Void) throws {
        try run(Self.same, [key.device, key.requestor, clientID, mvpd], nil)
        let erased = erasable
        let values: Arguments = [
            key.device, key.requestor, id, mvpd, record, claims.appID, claims.deviceUser, clientID, userID, subject.userID,
            subject.name.value, subject.name.format, subject.name.nameQualifier, subject.name.serviceProviderQualifier,
            subject.name.serviceProvidedID, subject.name.sessionIndex, subject.isHomeBased, try subject.attributesColumn(), createdAt, expiresAt,
            Int64(origin.kind.rawValue), origin.rule, origin.identity, origin.trial, origin.authenticatedAt, updatedAt,
            try device.serialized(), origin.upstream, origin.serviceIdentity, Household.mark(of: subject.attributes), erased.person, erased.device,
        ]
        try run(Self.insertion, values, 1)
        try run(Self.beyondMost, [key.device, key.requestor, Self.most], nil)
        // One that came by a code is known by that.
        if record == nil { try run(Client.noteAct, [clientID], nil) }
    }

    package init(columns: inout ColumnReader) throws {
        let key = SessionKey(device: columns.next(), requestor: columns.next())
        let (id, mvpd): (SessionID, MvpdID) = (columns.next(), columns.next())
        let record: RegistrationRecordID? = columns.next()
        let claims = DeviceClaims(appID: columns.next(), deviceUser: columns.next())
        let (clientID, userID): (ClientID, String) = (columns.next(), columns.next())
        let upstreamUserID: String = columns.next()
        let name = SubjectName(
            value: columns.next(), format: columns.next(), nameQualifier: columns.next(), serviceProviderQualifier: columns.next(),
            serviceProvidedID: columns.next(), sessionIndex: columns.next())
        let isHomeBased: Bool = columns.next()
        let attributes = try ProviderSubject.attributes(column: columns.next())
        let (createdAt, expiresAt): (Timestamp, Timestamp) = (columns.next(), columns.next())
        let kind = SessionKind(rawValue: columns.next())
        let (rule, identity): (DegradationRuleID?, PlatformIdentity?) = (columns.next(), columns.next())
        let trial: TrialID? = columns.next()
        let (authenticatedAt, updatedAt): (Timestamp, Timestamp) = (columns.next(), columns.next())
        let device = try DeviceInformation(serialized: columns.next() as [UInt8])
        let upstream: SessionID? = columns.next()
        self.init(
            id: id, key: key, mvpd: mvpd, record: record, claims: claims, clientID: clientID, userID: userID,
            subject: ProviderSubject(userID: upstreamUserID, name: name, isHomeBased: isHomeBased, attributes: attributes),
            createdAt: createdAt, expiresAt: expiresAt,
            origin: SessionOrigin(
                kind: kind, authenticatedAt: authenticatedAt, rule: rule, identity: identity, trial: trial, serviceIdentity: columns.next(),
                upstream: upstream),
            updatedAt: updatedAt, device: device)
    }
}

extension SqlAuthenticationStore {
    /// A viewer's sessions at a requestor and an MVPD, the newest first, also those that are over and still remembered. They have this NameID, or
    /// came from the logins of one of these scrambled ids.
    package func sessions(
        named name: String, userIDs: [String], at requestor: RequestorID, mvpd: MvpdID, most: Int
    ) async throws(Fault) -> [SessionRecord] {
        let found = try await store.read { database in
            let named: Statement = """
                SELECT \(SessionRecord.columns) FROM session WHERE name_id = ? AND requestor = ? AND mvpd = ? ORDER BY created_at_ms DESC LIMIT ?
                """
            // The condition on the kind is the index's, word for word.
            let known: Statement = """
                SELECT \(SessionRecord.columns) FROM session WHERE user_id = ? AND requestor = ? AND mvpd = ? AND kind <= 1
                ORDER BY created_at_ms DESC LIMIT ?
                """
            var found = try database.all(named, [name, requestor, mvpd, most]) { try SessionRecord(columns: &$0) }
            for id in userIDs { found += try database.all(known, [id, requestor, mvpd, most]) { try SessionRecord(columns: &$0) } }
            return found
        }
        return SessionRecord.newest(living(found), most)
    }
}

extension SessionRecord {
    /// Each once, the newest first.
    package static func newest(_ sessions: [SessionRecord], _ most: Int) -> [SessionRecord] {
        var known: Set<SessionID> = []
        return Array(sessions.filter { known.insert($0.id).inserted }.sorted { $0.createdAt > $1.createdAt }.prefix(most))
    }
}
