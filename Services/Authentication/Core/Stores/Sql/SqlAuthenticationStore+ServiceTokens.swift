package import Clocks
internal import Contracts
package import Faults
internal import Storage

/// People whom programmers name by service tokens, their devices, and the codes by which further ones join (rest-v2 §2.14).
extension SqlAuthenticationStore {
    /// Ties a device to the person of a name, or renews its tie; a person who is not known yet is now.
    package func tie(_ tie: ServiceTokenTie, to name: ServicePersonName) async throws(Fault) -> ServiceTokenDevice {
        let information = try tie.information.serialized()
        return try await store.write { database in
            let person: Statement = """
                INSERT INTO service_person (id, programmer, name_digest, expires_at_ms) VALUES (?, ?, ?, ?)
                ON CONFLICT (programmer, name_digest) DO UPDATE SET expires_at_ms = excluded.expires_at_ms RETURNING id
                """
            let id: ServicePersonID? = try database.value(person, [name.newID, tie.programmer, name.digest, tie.personExpiresAt])
            return try database.put(tie, information, of: id ?? name.newID)
        }
    }

    /// The same to the person whose code it is, which it uses up.
    /// - Returns: `nil` when the programmer has no such code, or it is over; nothing changed.
    package func tie(_ tie: ServiceTokenTie, by code: String) async throws(Fault) -> ServiceTokenDevice? {
        let information = try tie.information.serialized()
        return try await store.write { database in
            let use: Statement = "DELETE FROM service_link WHERE programmer = ? AND code = ? AND expires_at_ms > ? RETURNING person"
            guard let person: ServicePersonID = try database.value(use, [tie.programmer, code, tie.now]) else { return nil }
            try database.remember(person, until: tie.personExpiresAt)
            return try database.put(tie, information, of: person)
        }
    }

    /// - Returns: `nil` when the device was taken out, or is remembered no more.
    package func serviceDevice(_ tie: ServiceTieID) async throws(Fault) -> ServiceTokenDevice? {
        try await store.read { database in
            try database.first("\(ServiceTokenDevice.select) WHERE service_device.tie = ?", [tie]) { try ServiceTokenDevice(columns: &$0) }
        }
    }

    /// Notes that a device got a token now.
    /// - Parameters:
    ///   - end: The end of the tie.
    ///   - personEnd: Until when its person is remembered.
    /// - Returns: False when the tie is there no more.
    package func renew(_ tie: ServiceTieID, at now: Timestamp, until end: Timestamp, personUntil personEnd: Timestamp) async throws(Fault) -> Bool {
        try await store.write { database in
            let renew: Statement = "UPDATE service_device SET seen_at_ms = ?, expires_at_ms = ? WHERE tie = ? RETURNING person"
            guard let person: ServicePersonID = try database.value(renew, [now, end, tie]) else { return false }
            try database.remember(person, until: personEnd)
            return true
        }
    }

    /// The devices of a person, the one that was seen last first.
    package func serviceDevices(of person: ServicePersonID, now: Timestamp) async throws(Fault) -> [ServiceTokenDevice] {
        try await store.read { database in
            let devices: Statement = """
                \(ServiceTokenDevice.select) WHERE service_device.person = ? AND service_device.expires_at_ms > ?
                ORDER BY service_device.seen_at_ms DESC, service_device.tie
                """
            return try database.all(devices, [person, now]) { try ServiceTokenDevice(columns: &$0) }
        }
    }

    /// Takes devices of a person out; what was signed in on them is the devices' own from then on.
    /// - Parameter identity: The person's.
    package func untie(_ devices: [ServiceTokenDevice], of identity: ServiceIdentity) async throws(Fault) {
        let changed = try await store.write { database in
            var changed: [SessionKey] = []
            var codes: [RegistrationCodeText] = []
            for device in devices {
                try database.run("DELETE FROM service_device WHERE tie = ?", [device.tie])
                let sessions: Statement = """
                    UPDATE session SET service_identity = NULL WHERE service_identity = ? AND device_id = ? RETURNING device_id, requestor
                    """
                changed += try database.all(sessions, [identity, device.device]) { SessionKey(device: $0.next(), requestor: $0.next()) }
                let plans: Statement = """
                    UPDATE registration_code SET service_identity = NULL WHERE service_identity = ? AND device_id = ? AND api = 1 RETURNING code
                    """
                codes += try database.values(plans, [identity, device.device]) as [RegistrationCodeText]
            }
            return (sessions: changed, codes: codes)
        }
        for key in changed.sessions { memory.forget(key) }
        for code in changed.codes { self.codes.forget(code) }
    }

    /// Stores a code in place of the person's code before.
    /// - Returns: False when another person of the programmer has it; the code before is gone all the same.
    package func add(_ link: ServiceLinkCode, now: Timestamp) async throws(Fault) -> Bool {
        try await store.write { database in
            try database.run("DELETE FROM service_link WHERE person = ?", [link.person])
            let add: Statement = """
                INSERT INTO service_link (programmer, code, person, expires_at_ms) VALUES (?, ?, ?, ?)
                ON CONFLICT (programmer, code) DO UPDATE SET person = excluded.person, expires_at_ms = excluded.expires_at_ms
                WHERE service_link.expires_at_ms <= ?
                """
            return try database.run(add, [link.programmer, link.code, link.person, link.expiresAt, now]) == 1
        }
    }
}

extension Database {
    /// A device that has a tie to the person keeps it.
    fileprivate func put(_ tie: ServiceTokenTie, _ information: [UInt8], of person: ServicePersonID) throws -> ServiceTokenDevice {
        let put: Statement = """
            INSERT INTO service_device (tie, person, device_id, device, seen_at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (person, device_id) DO UPDATE SET
                device = excluded.device, seen_at_ms = excluded.seen_at_ms, expires_at_ms = excluded.expires_at_ms
            RETURNING tie
            """
        let own: ServiceTieID? = try value(put, [tie.newTie, person, tie.device, information, tie.now, tie.expiresAt])
        let beyondMost: Statement = """
            DELETE FROM service_device WHERE person = ?1 AND tie <> ?2 AND tie NOT IN
                (SELECT tie FROM service_device WHERE person = ?1 AND tie <> ?2 ORDER BY seen_at_ms DESC, tie LIMIT ?3)
            """
        try run(beyondMost, [person, own ?? tie.newTie, ServiceTokenDevice.most - 1])
        return ServiceTokenDevice(
            tie: own ?? tie.newTie, person: person, programmer: tie.programmer, device: tie.device, information: tie.information, seenAt: tie.now,
            expiresAt: tie.expiresAt)
    }

    fileprivate func remember(_ person: ServicePersonID, until end: Timestamp) throws {
        try run("UPDATE service_person SET expires_at_ms = ? WHERE id = ?", [end, person])
    }
}

extension ServiceTokenDevice {
    fileprivate static let select = """
        SELECT service_device.tie, service_device.person, service_person.programmer, service_device.device_id, service_device.device, \
        service_device.seen_at_ms, service_device.expires_at_ms \
        FROM service_device JOIN service_person ON service_person.id = service_device.person
        """

    fileprivate init(columns: inout ColumnReader) throws {
        let (tie, person, programmer): (ServiceTieID, ServicePersonID, ProgrammerID) = (columns.next(), columns.next(), columns.next())
        self.init(
            tie: tie, person: person, programmer: programmer, device: columns.next(),
            information: try DeviceInformation(serialized: columns.next() as [UInt8]), seenAt: columns.next(), expiresAt: columns.next())
    }
}
