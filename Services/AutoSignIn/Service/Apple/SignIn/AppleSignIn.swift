internal import ContractRuntime
internal import Contracts
internal import Clocks
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

    /// How often somebody else may change what a person finds here while we look.
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
