internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Storage

/// Lets a device in by Sign in with Apple (apple §2.8).
struct AppleSignIn: Sendable {
    let parts: AppleParts

    func signIn(_ request: AppleSignInRequest, _ context: CallContext) async throws(Fault) -> AppleSignInOutcome {
        let caller = try await parts.base.callers.device(request.call, context)
        var asked = request
        asked.call = nil
        let place = try IdempotentPlace(
            "SignInWithApple", key: request.idempotencyKey, caller: caller.names + [caller.requestor.text], request: asked)
        return try await parts.base.idempotency.once(place) { remembering throws(Fault) in
            let person = try await prove(request, caller)
            return try await arrive(person, request, caller, remembering, context)
        }
    }

    private func prove(_ request: AppleSignInRequest, _ caller: DeviceCaller) async throws(Fault) -> ProvenPerson {
        guard request.ticket.isEmpty else {
            return try await parts.proven(AppleTicketSecret(request.ticket), holder: caller.holder, requestor: caller.requestor)
        }
        let app = try parts.base.parts.catalogue.current().requireNativeApp(request.clientID, of: caller.programmer)
        let claim = AppleClaim(
            identityToken: request.identityToken, code: request.code, nonce: request.nonce, name: PersonName(request.user))
        return ProvenPerson(authorization: try await parts.proofs.prove(claim, app: app, tie: .nonce(holder: caller.holder)))
    }

    /// Somebody else may change this often what a person finds here while we look.
    private static let mostTurns = 4

    private func arrive(
        _ person: ProvenPerson, _ request: AppleSignInRequest, _ caller: DeviceCaller, _ remembering: Remembering, _ context: CallContext
    ) async throws(Fault) -> AppleSignInOutcome {
        for _ in 0..<Self.mostTurns {
            let now = parts.now()
            let arrival = try await parts.store.store.read { try $0.arrival(of: person.authorization, programmer: caller.programmer, now: now) }
            if let question = arrival.question(createsAccount: request.createAccount) {
                return try await ask(question, person, caller, remembering)
            }
            if let outcome = try await enter(person, arrival, request, caller, remembering, context) { return outcome }
        }
        throw Fault(.unavailable, "The account is being changed elsewhere.", retryAfter: .seconds(1))
    }

    private func ask(
        _ question: AppleQuestion, _ person: ProvenPerson, _ caller: DeviceCaller, _ remembering: Remembering
    ) async throws(Fault) -> AppleSignInOutcome {
        let content = AppleTicketContent(authorization: person.authorization, requestor: caller.requestor.text, returnURL: "")
        let issued = try parts.ticket(for: person, content, holder: caller.holder)
        let answer = AppleSignInOutcome(outcome: .ticket(TicketIssued(question, issued)))
        try await parts.store.change { database, _ in
            if person.ticket == nil { try database.insert(issued) }
            try remembering.keep(answer, in: database)
        }
        return answer
    }

    /// - Returns: `nil` when what was found is out of date.
    private func enter(
        _ person: ProvenPerson, _ arrival: AppleArrival, _ request: AppleSignInRequest, _ caller: DeviceCaller, _ remembering: Remembering,
        _ context: CallContext
    ) async throws(Fault) -> AppleSignInOutcome? {
        let entry = AppleEntry(parts, arrival, programmer: caller.programmer)
        let account = try await entry.existingAccount()
        let tv = try await parts.sessions.startTV(request.call, caller, of: account, context)
        do throws(Fault) {
            let outcome = try await parts.store.change { [parts] database, touched -> AppleSignInOutcome? in
                guard let (account, link) = try entry.enter(person, in: database, &touched) else { return nil }
                if let login = caller.personLogin {
                    try database.attach(login, to: account.id, programmer: account.programmer, now: entry.now)
                    touched.accounts.insert(account.id)
                }
                if let ticket = person.ticket { try database.take(ticket.secret, holder: caller.holder, now: entry.now) }
                if tv == nil, let before = caller.streaming, before.hasTVSession {
                    try database.end([before], now: entry.now)
                    touched.sessions.insert(before.id)
                }
                let session = parts.sessions.record(tv, caller, account: account.id, link: link.id, client: person.authorization.client)
                touched.sessions.formUnion(try database.put(session))
                touched.sessions.insert(session.id)
                let answer = AppleSignInOutcome(
                    outcome: .signedIn(
                        AppleSignedIn(
                            session: StreamingSession(session, tv: tv), isNew: entry.isNew, realUserPolicy: RealUserPolicy(link.realUserStatus))))
                try remembering.keep(answer, in: database)
                return answer
            }
            if outcome == nil { await undo(tv, context) } else { parts.base.outbox.wake() }
            return outcome
        } catch {
            await undo(tv, context)
            throw error
        }
    }

    private func undo(_ tv: AutomaticSession?, _ context: CallContext) async {
        if let session = tv?.session { await parts.base.undo(StreamingSessionID(session.id), context) }
    }
}

/// Brings a proven person to their account, old or new: account, name and link in one commit (apple §4, I6 and I8).
struct AppleEntry: Sendable {
    let parts: AppleParts
    let arrival: AppleArrival
    let programmer: ProgrammerID
    let now: Timestamp
    private let newAccount: AccountID
    private let newLink: AppleLinkID

    init(_ parts: AppleParts, _ arrival: AppleArrival, programmer: ProgrammerID) {
        self.parts = parts
        self.arrival = arrival
        self.programmer = programmer
        now = parts.now()
        newAccount = AccountID(parts.newID())
        newLink = AppleLinkID(parts.newID())
    }

    var isNew: Bool { arrival == .newcomer }

    /// - Returns: `nil` for a newcomer.
    /// - Throws: `account_locked`; faults of the storage.
    func existingAccount() async throws(Fault) -> AccountRecord? {
        guard let id = arrival.account else { return nil }
        let account = try await parts.store.account(id)
        try account?.requireUsable()
        return account
    }

    /// - Returns: `nil` when somebody else was quicker, and the person finds something else by now.
    func enter(
        _ person: ProvenPerson, in database: Database, _ touched: inout Touched
    ) throws -> (account: AccountRecord, link: AppleLinkRecord)? {
        let authorization = person.authorization
        guard try database.arrival(of: authorization, programmer: programmer, now: now) == arrival else { return nil }
        let account: AccountRecord
        if let id = arrival.account {
            guard let known = try database.account(id) else { return nil }
            try known.requireUsable()
            account = known
        } else {
            account = AccountRecord(id: newAccount, programmer: programmer, createdAt: now)
            try database.insert(account)
        }
        var known: AppleLinkRecord?
        if case .known(let link) = arrival { known = link }
        let link = try parts.linking.authorize(authorization, known, id: newLink, account: account, in: database, &touched, now: now)
        touched.accounts.insert(account.id)
        return (account, link)
    }
}

/// The account state that a proven person finds here (apple §2.8).
enum AppleArrival: Hashable, Sendable {
    /// Rule 2.
    case known(AppleLinkRecord)
    /// The account that another team's user brought along (apple §2.10).
    case moved(AccountID)
    /// Rule 4: an account with the same e-mail of their own.
    case accountExists
    /// Rule 5.
    case newcomer

    /// The account, if it is clear which.
    var account: AccountID? {
        switch self {
        case .known(let link): link.account
        case .moved(let account): account
        case .accountExists, .newcomer: nil
        }
    }

    /// The question that the person has to decide; `nil`: none.
    func question(createsAccount: Bool) -> AppleQuestion? {
        switch self {
        case .known, .moved: nil
        case .accountExists: .accountExists
        case .newcomer: createsAccount ? nil : .confirmationRequired
        }
    }
}

extension Database {
    /// - Throws: `link_conflict` when the person is another programmer's; `transfer_window_closed`.
    func arrival(of person: AppleAuthorization, programmer: ProgrammerID, now: Timestamp) throws -> AppleArrival {
        if let link = try appleLink(team: person.team, subject: person.subject) {
            guard link.programmer == programmer else { throw AppleLinking.conflict }
            return .known(link)
        }
        if let moved = try movedAccount(of: person, programmer: programmer, now: now) { return .moved(moved) }
        return try hasAccount(of: person.email, programmer: programmer) ? .accountExists : .newcomer
    }

    private func movedAccount(of person: AppleAuthorization, programmer: ProgrammerID, now: Timestamp) throws -> AccountID? {
        guard let name = person.transferSubject, let transfer = try appleTransfer(name, team: person.team),
            transfer.programmer == programmer, try isFree(transfer.account, team: person.team)
        else { return nil }
        try transfer.requireOpen(now)
        return transfer.account
    }

    /// Open, and without a link to the team.
    func isFree(_ account: AccountID, team: AppleTeamID) throws -> Bool {
        guard let account = try self.account(account), account.closedAt == nil else { return false }
        return try !appleLinks(of: account.id).contains { $0.team == team }
    }

    /// An address counts only if it is verified and the person's own, on both sides.
    private func hasAccount(of email: AppleEmail?, programmer: ProgrammerID) throws -> Bool {
        guard let address = email?.comparable else { return false }
        return try accountIDs(email: address, programmer: programmer).contains { id in
            guard let account = try account(id), account.closedAt == nil else { return false }
            return account.profile.isEmailVerified && !account.profile.isEmailPrivate
        }
    }
}
