internal import Clocks
internal import Contracts
internal import Faults
internal import Foundation
internal import Storage

extension SqliteAuthenticationStore: SessionStore {
    func session(_ key: SessionKey) async throws(Fault) -> SessionRecord? {
        let epochs: SessionMemory.Epochs
        switch sessions.lookup(key) {
        case .session(let session): return session
        case .absent: return nil
        case .unknown(let current): epochs = current
        }
        let found = try await store.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM session WHERE device_id = ? AND requestor = ?")
            return try Row.fetchOne(statement, arguments: [key.device, key.requestor]).map(SessionRecord.init(row:))
        }
        sessions.offer(found, for: key, readIn: epochs)
        return found
    }

    func start(_ session: SessionRecord, now: Timestamp) async throws(Fault) -> Bool {
        defer { noteStart(of: session) }
        return try await store.write { database in
            if let record = session.record, try !database.use(record, now: now) { return false }
            try session.insert(into: database)
            return true
        }
    }

    func update(_ update: AttributeUpdate, now: Timestamp) async throws(Fault) -> Bool {
        defer { sessions.forget(update.key) }
        return try await store.write { database in
            let (device, requestor) = (update.key.device, update.key.requestor)
            let read = try database.cachedStatement(sql: "SELECT * FROM session WHERE device_id = ? AND requestor = ?")
            let before = try Row.fetchOne(read, arguments: [device, requestor]).map(SessionRecord.init(row:))
            guard let after = update.applied(to: before, now: now) else { return false }
            let sql = "UPDATE session SET attributes = ?, updated_at_ms = ? WHERE device_id = ? AND requestor = ?"
            try database.cachedStatement(sql: sql)
                .execute(arguments: [try after.subject.attributesColumn(), after.updatedAt, device, requestor])
            return true
        }
    }

    func end(device: DeviceID, requestors: [RequestorID], claims: DeviceClaims, now: Timestamp) async throws(Fault) -> [SessionRecord] {
        defer {
            for requestor in requestors { sessions.forget(SessionKey(device: device, requestor: requestor)) }
        }
        return try await store.write { database in
            var ended: [SessionRecord] = []
            for requestor in requestors {
                let sql = """
                    DELETE FROM session WHERE device_id = ? AND requestor = ? AND ? IN ('', app_id) AND ? IN ('', device_user)
                    RETURNING *
                    """
                let row = try Row.fetchOne(
                    database.cachedStatement(sql: sql), arguments: [device, requestor, claims.appID, claims.deviceUser])
                if let session = try row.map(SessionRecord.init(row:)), session.expiresAt > now { ended.append(session) }
                try Self.remember(logoutOf: SessionKey(device: device, requestor: requestor), database, now)
            }
            return ended
        }
    }
}

extension Database {
    /// Marks a registration code used and ends a sign-in under way through it.
    /// - Returns: False when it is no longer live or has been used.
    func use(_ record: RegistrationRecordID, now: Timestamp) throws -> Bool {
        let sql = "UPDATE registration_code SET is_used = 1 WHERE id = ? AND is_used = 0 AND expires_at_ms > ?"
        try cachedStatement(sql: sql).execute(arguments: [record, now])
        guard changesCount == 1 else { return false }
        try cachedStatement(sql: "DELETE FROM pending_sign_in WHERE record_id = ?").execute(arguments: [record])
        return true
    }
}

extension SessionRecord {
    /// In place of the session that the device has at the requestor.
    func insert(into database: Database) throws {
        let sql = """
            INSERT OR REPLACE INTO session (device_id, requestor, id, mvpd, record_id, app_id, device_user, client_id, user_id,
                upstream_user_id, name_id, name_format, name_qualifier, sp_name_qualifier, sp_provided_id, session_index, is_home_based,
                attributes, created_at_ms, expires_at_ms, kind, rule, identity, trial, authenticated_at_ms, updated_at_ms, device, upstream)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try database.cachedStatement(sql: sql).execute(arguments: [
            key.device, key.requestor, id, mvpd, record, claims.appID, claims.deviceUser, clientID, userID, subject.userID,
            subject.name.value, subject.name.format, subject.name.nameQualifier, subject.name.serviceProviderQualifier,
            subject.name.serviceProvidedID, subject.name.sessionIndex, subject.isHomeBased, try subject.attributesColumn(), createdAt, expiresAt,
            Int64(origin.kind.rawValue), origin.rule, origin.identity, origin.trial, origin.authenticatedAt, updatedAt,
            try device.columnValue(), origin.upstream,
        ])
    }

    init(row: Row) throws {
        let name = SubjectName(
            value: row["name_id"], format: row["name_format"], nameQualifier: row["name_qualifier"],
            serviceProviderQualifier: row["sp_name_qualifier"], serviceProvidedID: row["sp_provided_id"], sessionIndex: row["session_index"])
        self.init(
            id: row["id"], key: SessionKey(device: row["device_id"], requestor: row["requestor"]), mvpd: row["mvpd"],
            record: row["record_id"], claims: DeviceClaims(appID: row["app_id"], deviceUser: row["device_user"]),
            clientID: row["client_id"], userID: row["user_id"],
            subject: UpstreamSubject(
                userID: row["upstream_user_id"], name: name, isHomeBased: row["is_home_based"],
                attributes: try UpstreamSubject.attributes(column: row["attributes"])),
            createdAt: row["created_at_ms"], expiresAt: row["expires_at_ms"], origin: SessionOrigin(row: row),
            updatedAt: row["updated_at_ms"], device: try DeviceInformation(columnValue: row["device"]))
    }
}

extension SessionOrigin {
    fileprivate init(row: Row) {
        self.init(
            kind: SessionKind(rawValue: row["kind"]), authenticatedAt: row["authenticated_at_ms"], rule: row["rule"],
            identity: row["identity"], trial: row["trial"], upstream: row["upstream"])
    }
}
