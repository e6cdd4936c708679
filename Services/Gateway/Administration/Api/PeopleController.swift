internal import Contracts
internal import Faults
internal import GatewayEdge

/// Tells what the cluster holds of a person, and erases it. Config decides who may and keeps the record; each service does its own part
/// (Shared/Documents/Decisions/0081).
struct PeopleController: Sendable {
    /// Another service's word for a person leads this often to more logins of theirs.
    private static let rounds = 3

    let administration: any Administration
    let authentication: any AuthenticationOperations
    let authorization: any Authorization
    /// `nil`: it cannot be asked.
    let autoSignIn: (any AutoSignInOperations)?

    /// The records that the services hold.
    struct Holdings: Sendable {
        let person: PersonExport
        let records: [(service: String, records: PersonRecords)]
        fileprivate let selector: PersonSelector
        fileprivate let holder: AccountHolder
        fileprivate let sessions: PersonSessions
    }

    /// - Throws: `AdministrationError` naming a service that does not tell, or the people of an id that stands for several.
    func export(_ selector: PersonSelector, by token: String, _ exchange: Exchange) async throws -> Holdings {
        try await record("exports a person by \(Self.way(selector))", token, exchange)
        return try await holdings(selector, exchange, "nothing was exported")
    }

    /// Asks every service before any erases, so that one that cannot is named while nothing has gone.
    func erase(
        _ selector: PersonSelector, by token: String, _ exchange: Exchange
    ) async throws -> (person: PersonExport, records: [(service: String, records: ErasedRecords)]) {
        try await record("erases a person by \(Self.way(selector))", token, exchange)
        let known = try await holdings(selector, exchange, "nothing was erased")
        var done: [(service: String, records: ErasedRecords)] = []
        func step(_ service: String, _ erase: () async throws -> ErasedRecords) async throws {
            do { done.append((service, try await erase())) } catch {
                let gone = done.isEmpty ? "nothing was erased" : "what \(done.map(\.service).joined(separator: " and ")) held is erased"
                throw Self.problem(service, error, "\(gone); erase again, which does no harm")
            }
        }
        // Authentication comes last: by what it holds the others are found, should one of them fail.
        try await step("autosignin") {
            try await autoSignIn?.erasePerson(known.holder, context: exchange.changingCall) ?? ErasedRecords()
        }
        try await step("authorization") { try await authorization.erasePerson(known.sessions, context: exchange.changingCall) }
        try await step("authentication") {
            let erasure = try await authentication.erasePerson(ErasePersonRequest(selector: known.selector), context: exchange.changingCall)
            guard !erasure.isAmbiguous else { throw AdministrationError.ambiguous(erasure.people, "what authentication holds was not erased") }
            return erasure.records ?? ErasedRecords()
        }
        let counts = done.map { service, records in "\(service) \(records.tables.reduce(0) { $0 + $1.rows }) rows" }
        // The erasure stands, whether this is recorded or not: the intent is.
        _ = try? await record("erased a person by \(Self.way(selector)): \(counts.joined(separator: ", "))", token, exchange, again: true)
        return (known.person, done)
    }

    private func holdings(_ selector: PersonSelector, _ exchange: Exchange, _ outcome: String) async throws -> Holdings {
        var selector = selector
        var (person, account) = (PersonExport(), AccountHolderExport())
        var holder = AccountHolder()
        for round in 1...Self.rounds {
            person = try await asking("authentication", outcome) {
                try await authentication.exportPerson(ExportPersonRequest(selector: selector), context: exchange.call)
            }
            guard !person.isAmbiguous else { throw AdministrationError.ambiguous(person.people, outcome) }
            holder = AccountHolder(logins: person.logins, deviceIDs: person.deviceIDs)
            account = try await asking("autosignin", outcome) {
                guard let autoSignIn else { throw Fault(.unimplemented, "") }
                return try await autoSignIn.exportPerson(holder, context: exchange.call)
            }
            let new = account.logins.filter { login in !person.logins.contains(login) }
            guard !new.isEmpty, round < Self.rounds else { break }
            selector.logins = Array((selector.logins + new).prefix(100))
        }
        let sessions = PersonSessions(sessionIDs: person.sessionIDs)
        let decisions = try await asking("authorization", outcome) { try await authorization.exportPerson(sessions, context: exchange.call) }
        return Holdings(
            person: person,
            records: [
                ("authentication", person.records ?? PersonRecords()), ("authorization", decisions),
                ("autosignin", account.records ?? PersonRecords()), ("config", Self.config), ("gateway", Self.gateway),
            ], selector: selector, holder: holder, sessions: sessions)
    }

    /// The record never names the person.
    private func record(_ subject: String, _ token: String, _ exchange: Exchange, again: Bool = false) async throws {
        let check = CheckAdministratorRequest(token: token, permission: .personalData, subject: subject)
        var context = exchange.changingCall
        if again { context.idempotencyKey = exchange.facts.requestID + "-done" }
        _ = try await administration.checkAdministrator(check, context: context)
    }

    private func asking<Answer>(_ service: String, _ outcome: String, _ ask: () async throws -> Answer) async throws -> Answer {
        do { return try await ask() } catch { throw Self.problem(service, error, outcome) }
    }

    /// An older release, or a program in place of the service, may not know the call; it is named, and never passed over.
    private static func problem(_ service: String, _ error: any Error, _ outcome: String) -> any Error {
        guard let fault = error as? Fault else { return error }
        switch fault.code {
        case .unimplemented:
            return AdministrationError(
                status: .notImplemented, code: "not_offered",
                message: "\(service) does not tell what it holds of people, as releases before this one do not; \(outcome).")
        case .permissionDenied:
            return AdministrationError(
                status: .notImplemented, code: "not_offered",
                message: "\(service) does not let the gateway ask: see 'allow' in its settings; \(outcome).")
        case let code where code.isTransient:
            return AdministrationError(
                status: .serviceUnavailable, code: "unavailable", message: "\(service) cannot be asked now; \(outcome).")
        default: return fault
        }
    }

    private static func way(_ selector: PersonSelector) -> String {
        let kind =
            switch selector.person {
            case .userID: "user id"
            case .householdID: "household"
            case .deviceID: "device id"
            case .code: "registration code"
            case nil: "nothing"
            }
        return selector.mvpd.isEmpty ? kind : "\(kind) at \(selector.mvpd.prefix(64))"
    }

    static let config = PersonRecords(remainders: [
        PersonRemainder(
            name: "audit", reason: "what administrators did; of a support look-up at most four characters of what was asked",
            end: "never: a chain of hashes holds it")
    ])
    static let gateway = PersonRecords(remainders: [
        PersonRemainder(
            name: "memory", reason: "hashes of client addresses with counts, which nobody can lead back", end: "after some seconds to ten hours")
    ])
}
