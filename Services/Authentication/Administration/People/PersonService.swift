package import AuthenticationCore
package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import Logging

/// Tells everything that the service holds about a person, and erases it; whoever calls has checked the administrator.
package struct PersonService: Sendable {
    private static let longest = 512
    private static let mostLogins = 100
    /// All that one look takes in is erased in one call this often.
    private static let rounds = 20

    package let store: SqlAuthenticationStore
    package let catalogue: any CatalogueSource
    package let scrambler: UserIDScrambler
    /// Open what they told of sessions.
    let deciders: [any Decider]
    package let clock: any WallClock
    let metrics: AuthenticationMetrics
    package let logger: Logger

    /// - Throws: As `ExportPerson`; faults of the store.
    func export(_ selector: PersonSelector?) async throws(Fault) -> PersonExport {
        let query = try query(selector)
        let found = try await store.person(query)
        guard !found.isAmbiguous else { return PersonExport(people: found.people.map(\.contract), isAmbiguous: true) }
        let told = try await store.told(found) { [self] sealed, session in PersonTables.json(keptAttributes(sealed, of: session)) }
        return PersonExport(
            people: found.people.map(\.contract), logins: logins(of: found, query), sessionIDs: found.sessions.map(\.id.text),
            deviceIDs: devices(of: found, query),
            records: PersonRecords(tables: told.tables, remainders: Self.remainders(of: found), hasMore: told.hasMore))
    }

    /// - Throws: As `export`.
    package func erase(_ selector: PersonSelector?) async throws(Fault) -> PersonErasure {
        let query = try query(selector)
        var all: ErasedPerson?
        for _ in 0..<Self.rounds {
            let erased = try await store.erase(query, now: clock.now())
            guard !erased.found.isAmbiguous else { return PersonErasure(people: erased.found.people.map(\.contract), isAmbiguous: true) }
            if all == nil { all = erased } else { all?.add(erased) }
            guard erased.found.hasMore else { break }
        }
        let erased = all ?? ErasedPerson(found: FoundPerson())
        metrics.endedSessions.increment(by: erased.rows.first { $0.table == "session" }?.count ?? 0)
        return PersonErasure(
            people: erased.found.people.map(\.contract),
            records: ErasedRecords(
                tables: erased.rows.map { ErasedTable(name: $0.table, rows: UInt32(clamping: $0.count)) },
                remainders: Self.remainders(of: erased, now: clock.now())))
    }

    /// Notes households of sessions that a release before wrote, until the task is cancelled: so long they are found by everything else.
    /// - Parameter isMine: True when it is this copy's turn.
    package func markHouseholds(isMine: @Sendable () async -> Bool) async {
        repeat {
            guard await isMine() else { continue }
            do throws(Fault) {
                while try await store.markHouseholds({ [self] in keptAttributes($0, of: $1) }) > 0 {
                    // Sign-ins come first.
                    guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return }
                }
            } catch {
                logger.debug("people.households_not_noted", metadata: ["reason": "\(error)"])
            }
        } while (try? await Task.sleep(for: .seconds(60))) != nil
    }

    private func keptAttributes(_ sealed: [UInt8], of session: String) -> [UserAttribute] {
        deciders.flatMap { $0.keptAttributes(sealed, of: session) }
    }

    private func query(_ selector: PersonSelector?) throws(Fault) -> PersonQuery {
        let selector = selector ?? PersonSelector()
        let mvpd = selector.mvpd.isEmpty ? nil : MvpdID(try Self.bounded(selector.mvpd))
        guard selector.logins.count <= Self.mostLogins else { throw Fault(.invalidRequest, "At most \(Self.mostLogins) logins may be named.") }
        var aliases: [Subscriber] = []
        let name: PersonQuery.Name
        switch selector.person {
        case .userID(let id):
            name = .user(try Self.bounded(id))
            aliases = try self.aliases(of: id, at: mvpd)
        case .householdID(let id): name = .household(Household.mark(try Self.bounded(id)))
        case .deviceID(let id): name = .device(DeviceID(try Self.bounded(id)))
        case .code(let text): name = .code(RegistrationCodeText(typed: try Self.bounded(text).filter { $0 != " " && $0 != "-" }))
        case nil: throw Fault(.invalidRequest, "A user id, a household, a device id or a code is required.")
        }
        return PersonQuery(
            name: name, mvpd: mvpd, aliases: aliases, logins: selector.logins.map { Subscriber(mvpd: MvpdID($0.mvpd), userID: $0.userID) },
            isAnonymous: { [scrambler] session in
                guard session.subject.userID.isEmpty else { return session.kind == .degraded || session.kind == .tempPass }
                let device = session.key.device
                return session.userID == scrambler.degraded(device) || session.userID == scrambler.tempPass(device)
            })
    }

    /// The names by which apps know the person, at one MVPD or at each. An upstream's session has no other name. An upstream may also tell its own.
    private func aliases(of id: String, at mvpd: MvpdID?) throws(Fault) -> [Subscriber] {
        let catalogue = try catalogue.current()
        let places = mvpd.map { [$0] } ?? catalogue.configuration.mvpds.map { MvpdID($0.id) }
        return places.flatMap { mvpd in
            [Subscriber(mvpd: mvpd, userID: scrambler.scramble(id, mvpd: mvpd)), Subscriber(mvpd: mvpd, userID: id)]
        }
    }

    /// With what another service may know a person whom nobody is signed in as here.
    private func logins(of found: FoundPerson, _ query: PersonQuery) -> [PersonLogin] {
        var logins: Set<Subscriber> = Set(query.logins)
        for person in found.people { logins.formUnion(person.userIDs.map { Subscriber(mvpd: person.mvpd, userID: $0) }) }
        if query.mvpd != nil { logins.formUnion(query.aliases) }
        return logins.map { PersonLogin(mvpd: $0.mvpd.text, userID: $0.userID) }.sorted { ($0.mvpd, $0.userID) < ($1.mvpd, $1.userID) }
    }

    private func devices(of found: FoundPerson, _ query: PersonQuery) -> [String] { found.devices.map(\.text).sorted() }

    private static func bounded(_ text: String) throws(Fault) -> String {
        guard (1...longest).contains(text.utf8.count) else { throw Fault(.invalidRequest, "An id has to have 1 to \(longest) octets.") }
        return text
    }
}

// The records that stay.
extension PersonService {
    private static let spent = PersonRemainder(
        name: "used_assertion", reason: "ids of an MVPD's answers, so that none counts twice; they name nobody", end: "with the answer's validity")
    private static let reports = PersonRemainder(
        name: "sign_in_report", reason: "why a sign-in failed; neither an id nor an attribute of a person is in it",
        end: "after authentication.reportHours")

    private static func clients(_ sessions: [SessionRecord]) -> PersonRemainder {
        PersonRemainder(
            name: "client", rows: UInt32(clamping: Set(sessions.map(\.clientID)).count),
            reason: "registrations of apps, which may serve other people too; 'POST /admin/v1/clients/{id}/revoke' ends one",
            end: "when unused for authentication.clientDays")
    }

    private static let digests = PersonRemainder(
        name: "erased", reason: "digests of the erased logins and devices, so that no sign-in from before brings them back", end: "after a day")

    fileprivate static func remainders(of found: FoundPerson) -> [PersonRemainder] {
        (found.sessions.isEmpty ? [] : [clients(found.sessions)]) + [spent, reports]
    }

    fileprivate static func remainders(of erased: ErasedPerson, now: Timestamp) -> [PersonRemainder] {
        var remainders = remainders(of: erased.found)
        if !erased.untold.isEmpty {
            remainders.append(
                PersonRemainder(
                    name: "bridge_session", rows: UInt32(clamping: erased.untold.count),
                    reason: "logouts that an upstream has yet to hear of, without what it told",
                    end: "when it has heard, at the latest at \(erased.untoldUntil.milliseconds) ms"))
        }
        if erased.keptSlots > 0 {
            remainders.append(
                PersonRemainder(
                    name: "bridge_slot", rows: UInt32(clamping: erased.keptSlots), reason: "our client at the upstream, which those logouts need",
                    end: "400 days after its last use"))
        }
        return remainders + [digests]
    }
}

extension ErasedPerson {
    fileprivate mutating func add(_ other: ErasedPerson) {
        for row in other.rows { add(row.count, of: row.table) }
        untold.formUnion(other.untold)
        untoldUntil = max(untoldUntil, other.untoldUntil)
        keptSlots = max(keptSlots, other.keptSlots)
    }
}

extension FoundPerson.Identity {
    fileprivate var contract: PersonIdentity {
        PersonIdentity(mvpd: mvpd.text, upstreamUserID: upstreamID, sessions: UInt32(clamping: sessions))
    }
}

extension PersonService: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.exportPerson) { request, _ in try await export(request.selector) }
        calls.unary(AuthenticationOperationsMethods.erasePerson) { request, _ in try await erase(request.selector) }
    }
}
