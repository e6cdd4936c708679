package import Clocks
internal import Contracts
package import Faults
internal import Storage

extension SqlAuthenticationStore {
    /// A code that expired but was not swept yet may be given out again.
    private static let claim: Statement = """
        INSERT INTO registration_code (\(RegistrationRecord.columns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, NULL, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (code) DO UPDATE SET id = excluded.id, requestor = excluded.requestor, mvpd = excluded.mvpd,
            generated_at_ms = excluded.generated_at_ms, expires_at_ms = excluded.expires_at_ms, device_id = excluded.device_id,
            device = excluded.device, user_agent = excluded.user_agent, device_type = excluded.device_type, app_id = excluded.app_id,
            device_user = excluded.device_user, registration_url = excluded.registration_url, client_id = excluded.client_id,
            is_used = 0, identity = excluded.identity, used_at_ms = NULL, api = excluded.api, domain_name = excluded.domain_name,
            redirect_url = excluded.redirect_url, kept_until_ms = excluded.kept_until_ms, service_identity = excluded.service_identity,
            platform_tokens = excluded.platform_tokens
        WHERE registration_code.kept_until_ms <= ?
        """
    /// Over, and remembered for a while: its maker may go on polling. It counts from the time of its making, and some more. By another clock, that of
    /// a copy or this one set right, it must not be there again.
    private static let ended = """
        UPDATE registration_code SET expires_at_ms = CASE WHEN generated_at_ms < ?1 THEN generated_at_ms ELSE ?1 END - ?2,
            kept_until_ms = CASE WHEN generated_at_ms < ?1 THEN generated_at_ms ELSE ?1 END - ?2, \(RegistrationRecordID.withoutTokens)
        """

    /// Stores the record unless one that is kept has the same code. A plan ends the unused one that the client's device had at the requestor.
    /// - Returns: False when the code is taken; nothing changed.
    package func claim(_ record: RegistrationRecord, now: Timestamp) async throws(Fault) -> Bool {
        let device = try record.device.serialized()
        let stored = try await store.commit { () throws(Fault) in
            var plan = Plan(for: record.deviceID.text)
            if record.isPlan { Self.addEndOfPlans(before: record, to: &plan, now) }
            plan.add(Self.claim, record.columns(device: device, now: now), rows: 1)
            plan.add(Client.noteAct, [record.clientID])
            return plan
        }
        if stored != nil { return true }
        return try await changingCodes { database in
            let ended = record.isPlan ? try Self.endPlans(before: record, database, now) : []
            guard try database.run(Self.claim, record.columns(device: device, now: now)) == 1 else { return (false, ended) }
            try database.noteAct(of: record.clientID)
            return (true, ended + [record.code])
        }
    }

    /// Runs a transaction that changes rows of codes, which memory forgets before anybody hears of it.
    private func changingCodes(
        _ body: @escaping @Sendable (Database) throws -> (done: Bool, changed: [RegistrationCodeText])
    ) async throws(Fault) -> Bool {
        do throws(Fault) {
            let (done, changed) = try await store.write(body)
            for code in changed { codes.forget(code) }
            return done
        } catch {
            codes.forgetAll(after: error)
            throw error
        }
    }

    /// The record of a code that has not expired.
    package func liveRecord(_ code: RegistrationCodeText, now: Timestamp) async throws(Fault) -> RegistrationRecord? {
        try await record(code, now).flatMap { $0.expiresAt > now && isLiving($0) ? $0 : nil }
    }

    /// False for a code that was made for the programmer who had the requestor's id before.
    private func isLiving(_ record: RegistrationRecord) -> Bool { record.generatedAt >= lives.since(record.requestor) }

    /// A new plan of a client's device ends the one before that nobody has signed in by (rest-v2 D7).
    /// - Returns: Their codes.
    private static func endPlans(before record: RegistrationRecord, _ database: Database, _ now: Timestamp) throws -> [RegistrationCodeText] {
        let found = try database.all(plans, former(record, now)) { columns -> (code: RegistrationCodeText, id: RegistrationRecordID) in
            (columns.next(), columns.next())
        }
        for plan in found { try database.run(RegistrationRecordID.endSignIns, [plan.id]) }
        return found.map(\.code)
    }

    /// As `endPlans`.
    private static func addEndOfPlans(before record: RegistrationRecord, to plan: inout Plan, _ now: Timestamp) {
        let pending: Statement = """
            DELETE FROM pending_sign_in WHERE record_id IN (SELECT id FROM registration_code
                WHERE device_id = ?1 AND client_id = ?2 AND requestor = ?3 AND api = 1 AND is_used = 0 AND expires_at_ms > ?4)
            """
        plan.add(pending, [record.deviceID, record.clientID, record.requestor, now])
        plan.add(plans, former(record, now))
    }

    private static let plans: Statement = """
        \(ended)
        WHERE device_id = ?3 AND client_id = ?4 AND requestor = ?5 AND api = 1 AND is_used = 0 AND expires_at_ms > ?1 RETURNING code, id
        """

    private static func former(_ record: RegistrationRecord, _ now: Timestamp) -> Arguments {
        [now, RegistrationRecord.clockErrorMilliseconds, record.deviceID, record.clientID, record.requestor]
    }

    /// The record of a code that has not expired, or whose session has not (clients §4.3).
    package func keptRecord(_ code: RegistrationCodeText, now: Timestamp) async throws(Fault) -> RegistrationRecord? {
        try await record(code, now).flatMap { $0.keptUntil > now && isLiving($0) ? $0 : nil }
    }

    /// Memory answers for codes that somebody waits for. The store is asked for one that is over or used, as for one that is none. So the time of an
    /// answer tells nothing to those who guess codes (dashboard §8).
    private func record(_ code: RegistrationCodeText, _ now: Timestamp) async throws(Fault) -> RegistrationRecord? {
        let known = codes.lookup(code)
        if case .hit(let record) = known, !record.isUsed, record.expiresAt > now + RegistrationRecord.remembrance { return record }
        let record = try await store.first(RegistrationRecord.byCode, [code]) { try RegistrationRecord(columns: &$0) }
        // Codes that are none displace no code.
        if case .miss(let epoch) = known, let record { codes.offer(record, for: code, readIn: epoch) }
        return record
    }

    /// Stores MVPD, domain and address of a record that is live and unused.
    /// - Returns: False when it is not; nothing changed.
    package func plan(_ record: RegistrationRecord, now: Timestamp) async throws(Fault) -> Bool {
        defer { codes.forget(record.code) }
        let plan: Statement = """
            UPDATE registration_code SET mvpd = ?, domain_name = ?, redirect_url = ? WHERE id = ? AND is_used = 0 AND expires_at_ms > ?
            """
        return try await store.change(plan, [record.mvpd, record.domainName, record.redirectURL, record.id, now], of: record.deviceID.text) == 1
    }

    /// Removes a live code of a requestor and the sign-in that is under way through it (rest-v1 §3.6).
    /// - Returns: False when there is none.
    package func remove(_ code: RegistrationCodeText, requestor: RequestorID, now: Timestamp) async throws(Fault) -> Bool {
        try await changingCodes { database in
            let pending: Statement = """
                DELETE FROM pending_sign_in WHERE record_id IN
                    (SELECT id FROM registration_code WHERE code = ? AND requestor = ? AND expires_at_ms > ?)
                """
            try database.run(pending, [code, requestor, now])
            let record: Statement = "\(Self.ended) WHERE code = ?3 AND requestor = ?4 AND expires_at_ms > ?1"
            return (try database.run(record, [now, RegistrationRecord.clockErrorMilliseconds, code, requestor]) == 1, [code])
        }
    }
}

extension RegistrationRecord {
    /// In the order in which they are read and written.
    fileprivate static let columns = """
        code, id, requestor, mvpd, generated_at_ms, expires_at_ms, device_id, device, user_agent, device_type, app_id, device_user, registration_url, \
        client_id, is_used, identity, used_at_ms, api, domain_name, redirect_url, kept_until_ms, service_identity, platform_tokens
        """

    fileprivate static let byCode: Statement = "SELECT \(columns) FROM registration_code WHERE code = ?"

    /// Those of the insert, but for `is_used` and `used_at_ms`.
    fileprivate func columns(device: [UInt8], now: Timestamp) -> Arguments {
        [
            code, id, requestor, mvpd, generatedAt, expiresAt, deviceID, device, userAgent, deviceType, claims.appID, claims.deviceUser,
            registrationURL, clientID, identity, isPlan, domainName, redirectURL, keptUntil, serviceIdentity, platformTokens, now,
        ]
    }

    fileprivate init(columns: inout ColumnReader) throws {
        let (code, id): (RegistrationCodeText, RegistrationRecordID) = (columns.next(), columns.next())
        let (requestor, mvpd): (RequestorID, String) = (columns.next(), columns.next())
        let (generatedAt, expiresAt): (Timestamp, Timestamp) = (columns.next(), columns.next())
        self.init(
            id: id, code: code, requestor: requestor, mvpd: mvpd, generatedAt: generatedAt, expiresAt: expiresAt, deviceID: columns.next(),
            device: try DeviceInformation(serialized: columns.next() as [UInt8]), userAgent: columns.next(), deviceType: columns.next(),
            claims: DeviceClaims(appID: columns.next(), deviceUser: columns.next()), registrationURL: columns.next(),
            clientID: columns.next(), isUsed: columns.next(), identity: columns.next())
        (usedAt, isPlan) = (columns.next(), columns.next())
        (domainName, redirectURL, keptUntil, serviceIdentity) = (columns.next(), columns.next(), columns.next(), columns.next())
        platformTokens = columns.next()
    }
}
