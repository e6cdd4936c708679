package import AuthenticationCore
package import Clocks
package import Contracts
package import Faults
internal import Storage

/// The store's queries and operations for people.
extension SqlAuthenticationStore {
    /// - Throws: `unavailable` while households of older sessions are not known yet.
    package func person(_ query: PersonQuery) async throws(Fault) -> FoundPerson {
        try await store.read { try $0.person(query) }
    }

    /// Every row of a person's.
    /// - Parameter attributes: Opens what an upstream told with a session.
    package func told(
        _ person: FoundPerson, attributes: @escaping @Sendable ([UInt8], String) -> String?
    ) async throws(Fault) -> (tables: [PersonTable], hasMore: Bool) {
        try await store.read { database in
            let tables = PersonTables(attributes: attributes)
            let owned = try database.owned(by: person)
            var (told, hasMore): ([PersonTable], Bool) = ([], person.hasMore)
            for (table, conditions) in tables.places(of: person, owned) {
                var rows: [String] = []
                var known: Set<OctetText> = []
                for (condition, arguments) in conditions {
                    for row in try database.exported(table, where: condition, arguments, most: FoundPerson.most)
                    where known.insert(OctetText(row)).inserted { rows.append(row) }
                }
                if rows.count >= FoundPerson.most { hasMore = true }
                if !rows.isEmpty { told.append(PersonTable(name: table.name, rows: Array(rows.prefix(FoundPerson.most)))) }
            }
            return (told, hasMore)
        }
    }

    /// Finds and removes, in one commit.
    /// - Returns: The person, and the number of rows of each table; none where the query stands for several people.
    package func erase(_ query: PersonQuery, now: Timestamp) async throws(Fault) -> ErasedPerson {
        let (erased, codes) = try await store.write { database -> (ErasedPerson, [RegistrationCodeText]) in
            let found = try database.person(query)
            var erased = ErasedPerson(found: found)
            guard !found.isAmbiguous else { return (erased, []) }
            let codes = try database.erase(found, query, into: &erased, now: now)
            return (erased, codes)
        }
        let found = erased.found
        for session in found.sessions {
            memory.forget(session.key)
            parts.forget(session.id)
            if session.isLogin { logins.forget(LoginPlace(subscriber: session.subscriber, requestor: session.key.requestor)) }
        }
        for code in codes { self.codes.forget(code) }
        gone.forgetAll()
        return erased
    }

    /// Marks households of sessions that a release before wrote, a batch of them.
    /// - Parameter attributes: Opens what an upstream told with a session.
    /// - Returns: The number of marked sessions.
    package func markHouseholds(_ attributes: @escaping @Sendable ([UInt8], String) -> [UserAttribute]) async throws(Fault) -> Int {
        let unmarked: [(id: SessionID, mark: String)] = try await store.read { database in
            let found = try database.all("SELECT id, attributes FROM session WHERE household IS NULL LIMIT ?", [Self.householdBatch]) {
                (id: $0.next() as SessionID, attributes: $0.next() as [UInt8])
            }
            return try found.map { session in
                let bridged: [UInt8]? = try database.value("SELECT attributes FROM bridge_session WHERE session_id = ?", [session.id])
                let told = try bridged.map { attributes($0, session.id.text) } ?? ProviderSubject.attributes(column: session.attributes)
                return (session.id, Household.mark(of: told))
            }
        }
        guard !unmarked.isEmpty else { return 0 }
        try await store.write { database in
            for session in unmarked {
                try database.run("UPDATE session SET household = ? WHERE id = ? AND household IS NULL", [session.mark, session.id])
            }
        }
        return unmarked.count
    }

    private static var householdBatch: Int { 500 }
}

/// Statements by which a person's rows are found: each stands on an index.
enum PersonStatements {
    private static let select = "SELECT \(SessionRecord.columns) FROM session WHERE"
    static let byUpstreamID = "\(select) upstream_user_id = ? AND upstream_user_id <> '' LIMIT ?"
    static let byName = "\(select) name_id = ? AND name_id <> '' LIMIT ?"
    /// The condition on the kind is the index's, word for word.
    static let byUserID = "\(select) user_id = ? AND kind <= 1 LIMIT ?"
    static let byHousehold = "\(select) household = ? LIMIT ?"
    static let byDevice = "\(select) device_id = ? LIMIT ?"
    static let unmarked = "SELECT 1 FROM session WHERE household IS NULL LIMIT 1"
    static let deviceOfCode = "SELECT device_id FROM registration_code WHERE code = ?"
    static let trials = "SELECT trial FROM trial_device WHERE device_id = ?"
    static let serviceDevices = "SELECT person FROM service_device WHERE device_id = ?"
    static let codesOfDevice = "SELECT id, code FROM registration_code WHERE device_id = ?"
    static let slotsOfDevice = "SELECT slot FROM bridge_session WHERE device_id = ? UNION SELECT slot FROM bridge_pending WHERE device_id = ?"

    /// For a test of their plans.
    static let all = [
        byUpstreamID, byName, byUserID, byHousehold, byDevice, unmarked, deviceOfCode, trials, serviceDevices, codesOfDevice, slotsOfDevice,
    ]
}

/// The rows that the person's sessions and devices lead to.
struct OwnedRows: Sendable {
    var records: [RegistrationRecordID] = []
    var codes: [RegistrationCodeText] = []
    var trials: [TrialID] = []
    var servicePeople: [ServicePersonID] = []
    /// Clients of ours at upstreams that serve one of the devices and nobody else.
    var slots: [String] = []
}

extension Database {
    private func sessions(_ statement: String, _ value: String, _ found: inout FoundPerson) throws -> [SessionRecord] {
        let sessions = try all(Statement(statement), [value, FoundPerson.most + 1]) { try SessionRecord(columns: &$0) }
        if sessions.count > FoundPerson.most { found.hasMore = true }
        return Array(sessions.prefix(FoundPerson.most))
    }

    /// Finds a person: first whom the query names, then everything else of theirs.
    fileprivate func person(_ query: PersonQuery) throws -> FoundPerson {
        var found = FoundPerson()
        var device: DeviceID?
        var named: [SessionRecord] = []
        switch query.name {
        case .user(let id):
            named += try sessions(PersonStatements.byUpstreamID, id, &found) + sessions(PersonStatements.byName, id, &found)
            for alias in query.aliases { named += try sessions(PersonStatements.byUserID, alias.userID, &found).filter { $0.mvpd == alias.mvpd } }
        case .household(let mark):
            guard try !hasRow(Statement(PersonStatements.unmarked)) else {
                throw Fault(.unavailable, "Households of older sessions are still being noted: ask again in a few minutes.", retryAfter: .seconds(60))
            }
            named = try sessions(PersonStatements.byHousehold, mark, &found)
        case .device(let id): device = id
        case .code(let code): device = try value(Statement(PersonStatements.deviceOfCode), [code])
        }
        if let device { named = try sessions(PersonStatements.byDevice, device.text, &found) }
        var seen: Set<SessionID> = []
        let people = named.filter { session in
            (query.mvpd.map { session.mvpd == $0 } ?? true) && !query.isAnonymous(session) && seen.insert(session.id).inserted
        }
        for session in people { found.note(session) }
        switch query.name {
        case .household: found.isAmbiguous = Set(found.people.map(\.mvpd)).count > 1
        case .user, .device, .code: found.isAmbiguous = found.people.count > 1
        }
        guard !found.isAmbiguous else { return found }
        try complete(&found, query, named: device)
        return found
    }

    /// Adds all sessions of the people, those of logins that are known as theirs, and the devices that nobody else has.
    private func complete(_ found: inout FoundPerson, _ query: PersonQuery, named device: DeviceID?) throws {
        for login in query.logins {
            for session in try sessions(PersonStatements.byUserID, login.userID, &found)
            where session.mvpd == login.mvpd && !query.isAnonymous(session) { found.note(session) }
        }
        for place in found.people.indices { found.people[place].sessions = 0 }
        var theirs: Set<SessionID> = []
        for person in found.people {
            var sessions = person.upstreamID.isEmpty ? [] : try sessions(PersonStatements.byUpstreamID, person.upstreamID, &found)
            for id in person.userIDs { sessions += try self.sessions(PersonStatements.byUserID, id, &found) }
            for session in sessions where session.mvpd == person.mvpd && theirs.insert(session.id).inserted {
                found.note(session)
                found.sessions.append(session)
            }
        }
        var devices: Set<DeviceID> = []
        for id in found.sessions.map(\.key.device) + (device.map { [$0] } ?? []) where devices.insert(id).inserted {
            let there = try sessions(PersonStatements.byDevice, id.text, &found)
            guard there.allSatisfy({ theirs.contains($0.id) || query.isAnonymous($0) }) else { continue }
            found.devices.append(id)
            for session in there where theirs.insert(session.id).inserted { found.sessions.append(session) }
        }
    }

    fileprivate func owned(by person: FoundPerson) throws -> OwnedRows {
        var owned = OwnedRows()
        owned.records = person.sessions.compactMap(\.record)
        var trials: Set<TrialID> = Set(person.sessions.compactMap(\.origin.trial))
        var (people, slots): (Set<ServicePersonID>, Set<String>) = ([], [])
        for device in person.devices {
            let codes = try all(Statement(PersonStatements.codesOfDevice), [device]) { columns -> (RegistrationRecordID, RegistrationCodeText) in
                (columns.next(), columns.next())
            }
            owned.records += codes.map(\.0)
            owned.codes += codes.map(\.1)
            trials.formUnion(try values(Statement(PersonStatements.trials), [device]))
            people.formUnion(try values(Statement(PersonStatements.serviceDevices), [device]))
            slots.formUnion(try values(Statement(PersonStatements.slotsOfDevice), [device, device]))
        }
        // The end of such a name is a digest of the device.
        owned.slots = slots.filter { ($0.split(separator: "/").last?.utf8.count ?? 0) == 64 }.sorted()
        for record in owned.records {
            if let code: RegistrationCodeText = try value("SELECT code FROM registration_code WHERE id = ?", [record]) { owned.codes.append(code) }
        }
        let own = Set(person.devices)
        owned.trials = try trials.filter { trial in
            let devices: [DeviceID] = try values("SELECT device_id FROM trial_device WHERE trial = ?", [trial])
            return devices.allSatisfy(own.contains)
        }
        owned.servicePeople = try people.filter { person in
            let devices: [DeviceID] = try values("SELECT device_id FROM service_device WHERE person = ?", [person])
            return devices.allSatisfy(own.contains)
        }
        return owned
    }

    /// - Returns: Codes that memory must forget.
    fileprivate func erase(
        _ person: FoundPerson, _ query: PersonQuery, into erased: inout ErasedPerson, now: Timestamp
    ) throws -> [RegistrationCodeText] {
        let owned = try owned(by: person)
        try remember(person, query, now: now)
        func delete(_ table: String, _ condition: String, _ arguments: Arguments) throws {
            erased.add(try run(Statement("DELETE FROM \(table) WHERE \(condition)"), arguments), of: table)
        }
        for session in person.sessions {
            try delete("upstream_token", "session_id = ?", [session.id])
            try endBridged("session_id = ?", [session.id], &erased, now)
            try delete("session", "id = ?", [session.id])
            // An OpenID provider uses the person's id as the name.
            for name in [session.subject.name.value, session.subject.userID] where !name.isEmpty {
                try delete("pending_logout", "name_id = ? AND mvpd = ?", [name, session.mvpd])
            }
        }
        for record in owned.records {
            try delete("pending_sign_in", "record_id = ?", [record])
            try delete("bridge_pending", "record_id = ?", [record])
            try delete("registration_code", "id = ?", [record])
        }
        for device in person.devices {
            try endBridged("device_id = ?", [device], &erased, now)
            try delete("bridge_pending", "device_id = ?", [device])
            try delete("bridge_lost_slot", "device = ?", [device.slotDigest])
            try delete("logout", "device_id = ?", [device])
            try delete("trial_device", "device_id = ?", [device])
            try delete("service_device", "device_id = ?", [device])
        }
        for trial in owned.trials {
            try delete("trial_user", "trial = ?", [trial])
            try delete("trial_resource", "trial = ?", [trial])
            try delete("trial", "id = ?", [trial])
        }
        for person in owned.servicePeople {
            try delete("service_link", "person = ?", [person])
            try delete("service_person", "id = ?", [person])
        }
        for slot in owned.slots {
            // A logout that upstream has not heard of needs it.
            if try hasRow("SELECT 1 FROM bridge_session WHERE slot = ?", [slot]) {
                erased.keptSlots += 1
            } else {
                try delete("bridge_slot", "name = ?", [slot])
            }
        }
        return owned.codes
    }

    /// Upstream has to hear of the logout: until it has, the row stays, without what upstream told of the person.
    private func endBridged(_ condition: String, _ arguments: Arguments, _ erased: inout ErasedPerson, _ now: Timestamp) throws {
        let keep = "\(condition) AND expires_at_ms > ? AND kind NOT IN ('temporary', 'degraded')"
        let kept = try all(
            Statement(
                """
                UPDATE bridge_session SET attributes = ?, encrypted_names = '', next_try_ms = CASE WHEN logout_ms > 0 THEN next_try_ms ELSE ? END,
                    logout_ms = CASE WHEN logout_ms > 0 THEN logout_ms ELSE ? END
                WHERE \(keep) RETURNING session_id, expires_at_ms
                """), [[] as [UInt8], now, now] + arguments + [now]
        ) { (session: $0.next() as SessionID, until: $0.next() as Timestamp) }
        // One that a session led to is met again by its device.
        for row in kept {
            erased.untold.insert(row.session)
            erased.untoldUntil = max(erased.untoldUntil, row.until)
        }
        let dropped = "\(condition) AND (expires_at_ms <= ? OR kind IN ('temporary', 'degraded'))"
        erased.add(try run(Statement("DELETE FROM bridge_session WHERE \(dropped)"), arguments + [now]), of: "bridge_session")
    }

    /// No sign-in from before brings them back.
    private func remember(_ person: FoundPerson, _ query: PersonQuery, now: Timestamp) throws {
        var subjects = Set(person.devices.map(ErasedSubject.device))
        for known in person.people {
            for id in known.userIDs { subjects.insert(ErasedSubject.person(known.mvpd, userID: id)) }
        }
        // Where nobody is known, the person may be signing in for the first time, at any MVPD that the query may mean.
        let aliases = query.aliases.filter { alias in person.people.isEmpty || person.people.contains { $0.mvpd == alias.mvpd } }
        for login in aliases + query.logins { subjects.insert(ErasedSubject.person(login.mvpd, userID: login.userID)) }
        for session in person.sessions { subjects.insert(session.erasable.person) }
        switch query.name {
        case .device(let id): subjects.insert(ErasedSubject.device(id))
        case .user, .household, .code: break
        }
        for subject in subjects.sorted() {
            try run(
                """
                INSERT INTO erased (subject, erased_at_ms, expires_at_ms) VALUES (?, ?, ?)
                ON CONFLICT (subject) DO UPDATE SET erased_at_ms = excluded.erased_at_ms, expires_at_ms = excluded.expires_at_ms
                """, [subject, now, now + ErasedSubject.memory])
        }
    }
}
