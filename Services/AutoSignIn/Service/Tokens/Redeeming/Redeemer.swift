internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Storage

/// Lets a device in by a value (apple §1.2). The known facts about the value are in memory, `authentication` is asked once, and one commit ends it.
struct Redeemer: Sendable {
    private let base: AutoSignInBase
    private let lookup: ValueLookup
    private let limits: RedeemLimits
    private let keys = RedeemKeys()
    private let addressKey: SymmetricKey

    init(_ base: AutoSignInBase) {
        self.base = base
        lookup = ValueLookup(store: base.parts.store, values: base.values)
        limits = RedeemLimits(perMinute: base.parts.settings.redeemsPerMinute)
        addressKey = base.parts.keys.key(for: .addresses)
    }

    func redeem(_ request: RedeemTokenRequest, _ context: CallContext) async throws(Fault) -> RedeemedToken {
        do throws(Fault) {
            let attempt = try Attempt(request, context, now: base.parts.clock.now())
            try limits.admit(address: attempt.call.clientAddress, now: attempt.now)
            let token = try await redeem(attempt)
            base.parts.metrics.redeemed.increment()
            return token
        } catch {
            base.parts.metrics.refused(error.code.rawValue)
            throw error
        }
    }

    private func redeem(_ attempt: Attempt) async throws(Fault) -> RedeemedToken {
        guard let found = try await find(attempt) else { throw try await invalid(attempt) }
        let (version, family) = found
        let account = try await base.parts.store.account(family.account)
        switch RedeemRule.verdict(version, of: family, account, at: attempt.place, now: attempt.now) {
        case .accepted(let isFirstSight, let rotateSoon):
            let entry = Entry(attempt: attempt, version: version, family: family, logins: account?.logins ?? [], isFirstSight: isFirstSight)
            return RedeemedToken(session: try await enter(entry), familyID: family.id.text, rotateSoon: rotateSoon)
        case .revoked: throw try await refuseRevoked(attempt, family)
        case .replayed: throw try await refuseReplayed(attempt, family)
        case .wrongPlace: throw try await refuse(attempt, Fault(.environmentMismatch, "The token belongs to another app or environment."))
        case .accountLocked: throw try await refuse(attempt, Fault(.accountLocked, "The account is locked."))
        case .noLogin: throw try await refuse(attempt, Self.noSubscription)
        }
    }

    private func find(_ attempt: Attempt) async throws(Fault) -> (TokenVersionRecord, FamilyRecord)? {
        guard let value = attempt.value, let version = try await lookup.version(value),
            let family = try await base.parts.store.family(version.family),
            try base.parts.catalogue.current().programmerID(of: RequestorID(attempt.call.requestor)) == family.programmer
        else { return nil }
        return (version, family)
    }

    // MARK: In

    private func enter(_ entry: Entry) async throws(Fault) -> StreamingSession {
        let attempt = entry.attempt
        let started = try await start(entry)
        guard let session = started.session, let identified = started.caller else {
            throw Fault(.internal, "An internal fault occurred.")
        }
        let record = StreamingSessionRecord(session, identified, family: entry.family, now: attempt.now)
        let refusal: Fault?
        do throws(Fault) {
            var entry = entry
            entry.place = try attempt.idempotentPlace(identified)
            try keys.claim(entry.place, now: attempt.now)
            if !entry.isFirstSight, let known = try await continued(record, entry) { return StreamingSession(known, tv: started) }
            refusal = try await commit(record, entry)
        } catch {
            await base.undo(record.id, attempt.context)
            throw error
        }
        guard let refusal else { return StreamingSession(record, tv: started) }
        base.outbox.wake()
        throw refusal
    }

    private func start(_ entry: Entry) async throws(Fault) -> AutomaticSession {
        let request = StartAutomaticSessionRequest(call: entry.attempt.call, logins: entry.logins.map(\.reference))
        do {
            return try await base.parts.logins.startAutomaticSession(request, context: entry.attempt.context.child())
        } catch {
            throw .unexpected(error)
        }
    }

    /// The device had that very session before, and nothing has to be written. Memory tells if the family still stands, or the store where other
    /// copies may have ended it unheard.
    private func continued(_ record: StreamingSessionRecord, _ entry: Entry) async throws(Fault) -> StreamingSessionRecord? {
        let store = base.parts.store
        let (known, family): (StreamingSessionRecord?, FamilyRecord?) =
            if store.store.isCoherent {
                (try await store.session(record.id), try await store.family(entry.family.id))
            } else {
                (try await store.session(record.id, whileStanding: entry.version, of: entry.family), entry.family)
            }
        guard let known, known.isSame(as: record), record.lastUsedAt - known.lastUsedAt < FamilyRecord.useInterval,
            let family, !family.isOver, let usedAt = family.lastUsedAt, record.lastUsedAt - usedAt < FamilyRecord.useInterval
        else { return nil }
        return known
    }

    /// A revocation during the question to `authentication` is found here: the new session ends in the same commit (I1).
    /// - Returns: The refusal then.
    private func commit(_ record: StreamingSessionRecord, _ entry: Entry) async throws(Fault) -> Fault? {
        let attempt = entry.attempt
        let redemption = RedemptionRecord(
            family: entry.family.id, device: record.device, address: address(attempt), outcome: .accepted, at: attempt.now)
        if entry.version.state != .pending, try await base.parts.store.store.commit({ entry.plan(record, redemption) }) != nil { return nil }
        return try await base.parts.store.change { database, touched -> Fault? in
            var (family, version) = (entry.family, entry.version)
            if try !database.stands(version, of: family) {
                guard let newFamily = try database.family(family.id), let newVersion = try database.version(version.id) else {
                    try database.end([record], now: attempt.now)
                    touched.sessions.insert(record.id)
                    return Self.revoked
                }
                (family, version) = (newFamily, newVersion)
                let verdict = RedeemRule.verdict(version, of: family, try database.account(family.account), at: attempt.place, now: attempt.now)
                if let refusal = Self.refusal(verdict) {
                    try database.end([record], now: attempt.now)
                    touched.sessions.insert(record.id)
                    return refusal
                }
            }
            try database.noteUse(of: family, by: version, &touched, now: attempt.now)
            try database.insert(redemption)
            if let claim = entry.place?.claim(now: attempt.now), try database.run(claim) != 1 { throw Idempotency.reused }
            touched.sessions.formUnion(try database.put(record))
            touched.newSessions.append(record)
            return nil
        }
    }

    /// The present objection to the value.
    private static func refusal(_ verdict: RedeemRule.Verdict) -> Fault? {
        switch verdict {
        case .accepted: nil
        case .accountLocked: Fault(.accountLocked, "The account is locked.")
        case .noLogin: noSubscription
        case .revoked, .replayed, .wrongPlace: revoked
        }
    }

    // MARK: Out

    private static let revoked = Fault(.tokenRevoked, "The token is revoked.")
    private static let noSubscription = Fault(.subscriptionRequired, "The account has no TV subscription that serves here.")

    /// Unknown and wrong are one thing to whoever asks. A caller without a good bearer learns only that.
    private func invalid(_ attempt: Attempt) async throws(Fault) -> Fault {
        _ = try await base.callers.device(attempt.call, attempt.context)
        if let value = attempt.value { try limits.fail(value.id, now: attempt.now) }
        return Fault(.tokenInvalid, "The token is not known.")
    }

    private func refuse(_ attempt: Attempt, _ fault: Fault) async throws(Fault) -> Fault {
        _ = try await base.callers.device(attempt.call, attempt.context)
        return fault
    }

    private func refuseRevoked(_ attempt: Attempt, _ family: FamilyRecord) async throws(Fault) -> Fault {
        let caller = try await base.callers.device(attempt.call, attempt.context)
        try await note(.redeemRefused, .revoked, attempt, family, caller)
        return Self.revoked
    }

    /// From a device that the family has never seen, somebody else may have the value (apple §1.2).
    private func refuseReplayed(_ attempt: Attempt, _ family: FamilyRecord) async throws(Fault) -> Fault {
        let caller = try await base.callers.device(attempt.call, attempt.context)
        let isKnown = try await base.parts.store.knows(caller.device, family)
        try await note(isKnown ? .tokenReplayed : .familyRevokedByReplay, .replayed, attempt, family, caller)
        return Fault(.tokenReplayed, "The token was replaced by a newer one.")
    }

    private func note(
        _ kind: SecurityEventKind, _ outcome: RedemptionRecord.Outcome, _ attempt: Attempt, _ family: FamilyRecord, _ caller: DeviceCaller
    ) async throws(Fault) {
        let event = SecurityEventRecord(at: attempt.now, kind: kind, family: family.id, account: family.account, requestor: caller.requestor)
        let redemption = RedemptionRecord(family: family.id, device: caller.device, address: address(attempt), outcome: outcome, at: attempt.now)
        try await base.parts.store.change { database, touched in
            try database.insert(redemption)
            try database.insert(event)
            if kind == .familyRevokedByReplay { try database.revoke(family.id, .replay, &touched, now: attempt.now) }
        }
        base.events.tell(event)
        guard kind == .familyRevokedByReplay else { return }
        base.parts.metrics.revoked(RevocationReason.replay.label)
        base.outbox.wake()
    }

    private func address(_ attempt: Attempt) -> Digest {
        Digest(bytes: HMACSHA256.authenticate(Array(attempt.call.clientAddress.utf8), key: addressKey))
    }
}

extension Redeemer {
    /// A redeem that is accepted, as far as what is known of the value tells.
    struct Entry: Sendable {
        let attempt: Attempt
        let version: TokenVersionRecord
        let family: FamilyRecord
        let logins: [TVLogin]
        let isFirstSight: Bool
        /// The place of the call's idempotency key, once the caller is known.
        var place: IdempotentPlace?

        /// Lets the device in as long as all still stands, in one round trip; not for a value that becomes the active one.
        func plan(_ record: StreamingSessionRecord, _ redemption: RedemptionRecord) -> Plan {
            var plan = Plan(for: family.id.text)
            plan.add(version.standing(family), rows: 1)
            if let used = family.used(attempt.now) { plan.add(used.update, rows: 1) }
            plan.add(redemption.insert)
            if let claim = place?.claim(now: attempt.now) { plan.add(claim, rows: 1) }
            plan.add(record.replace)
            plan.add(record.insert, rows: 1)
            return plan
        }
    }
}

extension AutoSignInStore {
    /// The session, as long as all that the verdict on a value hangs on is as these records have it.
    /// - Throws: Faults of the storage.
    func session(
        _ id: StreamingSessionID, whileStanding version: TokenVersionRecord, of family: FamilyRecord
    ) async throws(Fault) -> StreamingSessionRecord? {
        let standing = version.standing(family)
        return try await store.first(StreamingSessionRecord.whileStanding, [id] + standing.arguments) { StreamingSessionRecord(columns: &$0) }
    }

    /// True when the device opted in, or was let in by a value of the family in the last 90 days.
    /// - Throws: Faults of the storage.
    func knows(_ device: DeviceID, _ family: FamilyRecord) async throws(Fault) -> Bool {
        if family.device == device { return true }
        let accepted: Statement = "SELECT 1 FROM redemption WHERE family_id = ? AND device_id = ? AND outcome = ? LIMIT 1"
        return try await store.first(accepted, [family.id, device, RedemptionRecord.Outcome.accepted.rawValue]) { _ in true } ?? false
    }
}

extension Redeemer {
    /// A redeem, as far as the request alone tells.
    struct Attempt: Sendable {
        let call: DeviceCall
        let context: CallContext
        let now: Timestamp
        let place: RedeemRule.Place
        /// `nil`: it was never a value.
        let value: TokenValue?
        private let request: RedeemTokenRequest

        /// - Throws: `invalid_request`.
        init(_ request: RedeemTokenRequest, _ context: CallContext, now: Timestamp) throws(Fault) {
            guard let call = request.call else { throw Fault(.invalidRequest, "Required 'call' is not present.") }
            self.call = call
            self.context = context
            self.now = now
            self.request = request
            place = RedeemRule.Place(bundleID: AppleClientID(request.bundleID), environment: try request.environment.required())
            value = TokenValue(request.value)
        }

        /// - Throws: `invalid_request` when the key is too long.
        func idempotentPlace(_ caller: IdentifiedCaller) throws(Fault) -> IdempotentPlace? {
            var subject = request
            subject.call = nil
            subject.idempotencyKey = ""
            return try IdempotentPlace("RedeemToken", key: request.idempotencyKey, caller: [caller.clientID, caller.deviceID], request: subject)
        }
    }
}

extension StreamingSessionRecord {
    init(_ session: Session, _ caller: IdentifiedCaller, family: FamilyRecord, now: Timestamp) {
        self.init(
            id: StreamingSessionID(session.id), account: family.account, programmer: family.programmer, requestor: RequestorID(caller.requestor),
            device: DeviceID(caller.deviceID), deviceLabel: caller.device?.label ?? "Device", client: ClientID(caller.clientID),
            origin: .automatic(family.id), createdAt: Timestamp(milliseconds: Int64(clamping: session.createdAtMilliseconds)), lastUsedAt: now,
            expiresAt: Timestamp(milliseconds: Int64(clamping: session.expiresAtMilliseconds)))
    }

    /// True when it is that session but for when it was used.
    func isSame(as other: StreamingSessionRecord) -> Bool {
        var other = other
        other.lastUsedAt = lastUsedAt
        return self == other
    }
}
