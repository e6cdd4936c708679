internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Storage

/// Ends families, for whatever reason (apple §1.2).
struct Revocations: Sendable {
    let base: AutoSignInBase
    let lookup: ValueLookup

    init(_ base: AutoSignInBase) {
        self.base = base
        lookup = ValueLookup(store: base.parts.store, values: base.values)
    }

    func revokeToken(_ request: RevokeTokenRequest, _ context: CallContext) async throws(Fault) -> Revocation {
        let caller = try await base.callers.any(request.caller, context)
        var subject = request
        subject.caller = nil
        subject.idempotencyKey = ""
        let place = try IdempotentPlace("RevokeToken", key: request.idempotencyKey, caller: caller.names, request: subject)
        return try await base.idempotency.once(place) { remembering throws(Fault) in
            let family = try await family(request, caller)
            return try await revoke(family, RevocationReason(sent: request.reason, otherwise: .optOut), remembering)
        }
    }

    /// - Throws: `family_unknown` when it is not the caller's; `step_up_required` for another one than that of a session with `acr = auto`.
    private func family(_ request: RevokeTokenRequest, _ caller: CheckedCaller) async throws(Fault) -> FamilyID {
        guard request.value.isEmpty != request.familyID.isEmpty else {
            throw Fault(.invalidRequest, "Exactly one of 'value' and 'familyId' is needed.")
        }
        var id = FamilyID(request.familyID)
        if !request.value.isEmpty {
            guard let value = TokenValue(request.value), let version = try await lookup.version(value) else { throw .familyUnknown }
            id = version.family
        }
        if case .device(let device) = caller, device.standing == .none { try device.requirePerson() }
        guard let family = try await base.parts.store.family(id), caller.mayReach(family.account, of: family.programmer) else {
            throw .familyUnknown
        }
        if case .device(let device) = caller, device.family != id { try device.requirePerson() }
        return id
    }

    private func revoke(_ id: FamilyID, _ reason: RevocationReason, _ remembering: Remembering) async throws(Fault) -> Revocation {
        let now = base.parts.clock.now()
        let (revocation, isNew) = try await base.parts.store.change { database, touched in
            let before = try database.family(id)?.revokedAt
            try database.revoke(id, reason, &touched, now: now)
            let revocation = Revocation(revokedAtMilliseconds: UInt64(clamping: (before ?? now).milliseconds))
            try remembering.keep(revocation, in: database)
            return (revocation, before == nil)
        }
        if isNew { tell([id], reason) }
        return revocation
    }

    func revokeAll(_ request: RevokeAllRequest, _ context: CallContext) async throws(Fault) -> RevokedFamilies {
        let caller = try await base.callers.any(request.caller, context)
        try caller.requirePerson()
        var subject = request
        subject.caller = nil
        subject.idempotencyKey = ""
        let place = try IdempotentPlace("RevokeAll", key: request.idempotencyKey, caller: caller.names, request: subject)
        return try await base.idempotency.once(place) { remembering throws(Fault) in
            guard let account = try await account(request, caller) else { return RevokedFamilies() }
            let reason = RevocationReason(sent: request.reason, otherwise: .signOutEverywhere)
            let kept = request.keepSessionID.isEmpty ? nil : StreamingSessionID(request.keepSessionID)
            return try await revokeAll(of: account, reason, keeping: kept, caller.requestor, remembering)
        }
    }

    /// - Returns: `nil`: the person has no account yet.
    private func account(_ request: RevokeAllRequest, _ caller: CheckedCaller) async throws(Fault) -> AccountID? {
        guard !request.accountID.isEmpty else {
            switch caller {
            case .device(let device): return device.account
            case .web(let browser): return browser.account
            case .backend: throw Fault(.invalidRequest, "Required 'accountId' is not present.")
            }
        }
        guard let account = try await base.parts.store.account(AccountID(request.accountID)), caller.mayReach(account.id, of: account.programmer)
        else { throw .familyUnknown }
        return account.id
    }

    private func revokeAll(
        of account: AccountID, _ reason: RevocationReason, keeping kept: StreamingSessionID?, _ requestor: RequestorID, _ remembering: Remembering
    ) async throws(Fault) -> RevokedFamilies {
        let now = base.parts.clock.now()
        let event = SecurityEventRecord(at: now, kind: .signedOutEverywhere, account: account, requestor: requestor)
        let (families, answer) = try await base.parts.store.change { database, touched in
            let ended = try database.revokeAll(of: account, reason, keeping: kept, &touched, now: now)
            try database.insert(event)
            let answer = RevokedFamilies(familyIDs: ended.families.map(\.text), endedSessions: UInt32(ended.sessions.count))
            try remembering.keep(answer, in: database)
            return (ended.families, answer)
        }
        base.events.tell(event)
        tell(families, reason)
        return answer
    }

    /// A sign-in that was not the person's: its family ends, others stay.
    func flag(_ request: FlagSignInRequest, _ context: CallContext) async throws(Fault) -> RevokedFamilies {
        let caller = try await base.callers.any(request.caller, context)
        try caller.requirePerson()
        var subject = request
        subject.caller = nil
        subject.idempotencyKey = ""
        let place = try IdempotentPlace("FlagSignIn", key: request.idempotencyKey, caller: caller.names, request: subject)
        return try await base.idempotency.once(place) { remembering throws(Fault) in
            guard let session = try await base.parts.store.session(StreamingSessionID(request.sessionID)),
                caller.mayReach(session.account, of: session.programmer)
            else { throw Fault(.sessionUnknown, "There is no such session.") }
            return try await flag(session, caller.requestor, remembering)
        }
    }

    private func flag(
        _ session: StreamingSessionRecord, _ requestor: RequestorID, _ remembering: Remembering
    ) async throws(Fault) -> RevokedFamilies {
        let now = base.parts.clock.now()
        let event = SecurityEventRecord(
            at: now, kind: .signInFlagged, family: session.origin.family, account: session.account, requestor: requestor)
        let (families, answer) = try await base.parts.store.change { database, touched in
            var (families, ended): ([FamilyID], [StreamingSessionID]) = ([], [])
            if let family = session.origin.family, try database.family(family)?.state != .revoked {
                ended = try database.revoke(family, .flagged, &touched, now: now).map(\.id)
                families = [family]
            }
            if !ended.contains(session.id) {
                try database.end([session], now: now)
                touched.sessions.insert(session.id)
                ended.append(session.id)
            }
            try database.insert(event)
            let answer = RevokedFamilies(familyIDs: families.map(\.text), endedSessions: UInt32(ended.count))
            try remembering.keep(answer, in: database)
            return (families, answer)
        }
        base.events.tell(event)
        tell(families, .flagged)
        return answer
    }

    /// Counts what ended, and lets Apple and `authentication` hear of it.
    private func tell(_ families: [FamilyID], _ reason: RevocationReason) {
        for family in families {
            base.parts.metrics.revoked(reason.label)
            base.parts.logger.info("family_revoked", metadata: ["family": "\(family)", "reason": "\(reason.label)"])
        }
        base.outbox.wake()
    }
}

extension RevocationReason {
    static let longest = 64

    /// The caller's reason: letters, digits, `_`, `-` and spaces, at most 64 of them; anything else is passed over.
    init(sent text: String, otherwise fallback: RevocationReason) {
        let kept = text.unicodeScalars.filter {
            $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "_- ".unicodeScalars.contains($0))
        }
        let cleaned = String(String.UnicodeScalarView(kept.prefix(Self.longest)))
        self = cleaned.isEmpty ? fallback : RevocationReason(text: cleaned)
    }
}
