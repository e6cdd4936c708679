internal import Clocks
internal import Contracts
internal import Faults
internal import Foundation
internal import Storage

extension SqliteAuthenticationStore: RegistrationCodeStore {
    /// A code that expired but was not swept yet may be given out again.
    private static let claim = """
        INSERT INTO registration_code (code, id, requestor, mvpd, generated_at_ms, expires_at_ms, device_id, device, user_agent,
            device_type, app_id, device_user, registration_url, client_id, is_used, identity)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
        ON CONFLICT (code) DO UPDATE SET id = excluded.id, requestor = excluded.requestor, mvpd = excluded.mvpd,
            generated_at_ms = excluded.generated_at_ms, expires_at_ms = excluded.expires_at_ms, device_id = excluded.device_id,
            device = excluded.device, user_agent = excluded.user_agent, device_type = excluded.device_type, app_id = excluded.app_id,
            device_user = excluded.device_user, registration_url = excluded.registration_url, client_id = excluded.client_id,
            is_used = 0, identity = excluded.identity
        WHERE expires_at_ms <= ?
        """

    func claim(_ record: RegistrationRecord, now: Timestamp) async throws(Fault) -> Bool {
        let device = try record.device.columnValue()
        return try await store.write { database in
            try database.cachedStatement(sql: Self.claim).execute(arguments: record.columns(device: device, now: now))
            return database.changesCount == 1
        }
    }

    func liveRecord(_ code: RegistrationCodeText, now: Timestamp) async throws(Fault) -> RegistrationRecord? {
        try await store.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM registration_code WHERE code = ? AND expires_at_ms > ?")
            return try Row.fetchOne(statement, arguments: [code, now]).map(RegistrationRecord.init(row:))
        }
    }

    func remove(_ code: RegistrationCodeText, requestor: RequestorID, now: Timestamp) async throws(Fault) -> Bool {
        try await store.write { database in
            let pending = """
                DELETE FROM pending_sign_in WHERE record_id IN
                    (SELECT id FROM registration_code WHERE code = ? AND requestor = ? AND expires_at_ms > ?)
                """
            try database.cachedStatement(sql: pending).execute(arguments: [code, requestor, now])
            let record = "DELETE FROM registration_code WHERE code = ? AND requestor = ? AND expires_at_ms > ?"
            try database.cachedStatement(sql: record).execute(arguments: [code, requestor, now])
            return database.changesCount == 1
        }
    }
}

extension RegistrationRecord {
    /// In the order of the insert.
    fileprivate func columns(device: Data, now: Timestamp) -> StatementArguments {
        [
            code, id, requestor, mvpd, generatedAt, expiresAt, deviceID, device, userAgent, deviceType, claims.appID, claims.deviceUser,
            registrationURL, clientID, identity, now,
        ]
    }

    fileprivate init(row: Row) throws {
        self.init(
            id: row["id"], code: row["code"], requestor: row["requestor"], mvpd: row["mvpd"], generatedAt: row["generated_at_ms"],
            expiresAt: row["expires_at_ms"], deviceID: row["device_id"], device: try DeviceInformation(columnValue: row["device"]),
            userAgent: row["user_agent"], deviceType: row["device_type"],
            claims: DeviceClaims(appID: row["app_id"], deviceUser: row["device_user"]), registrationURL: row["registration_url"],
            clientID: row["client_id"], isUsed: row["is_used"], identity: row["identity"])
    }
}
