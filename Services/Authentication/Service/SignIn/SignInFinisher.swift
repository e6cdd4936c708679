internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import SamlProfile

/// Takes an MVPD's answer and makes a session of it, or not (mvpd §2.3, §2.4, §2.6).
struct SignInFinisher: Sendable {
    let saml: any SamlSignIn
    let catalogue: any CatalogueSource
    let store: any AuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let scrambler: UserIDScrambler
    let activationOrigins: Set<String>
    let metrics: AuthenticationMetrics
    let logger: Logger

    /// A message that fails a check is an outcome, not a fault.
    /// - Throws: Faults of the storage and of a missing catalogue only; the answer may then be sent again.
    func finish(_ request: CompleteSamlSignInRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome {
        let log = SignInLog(logger: logger, metrics: metrics, trace: trace)
        let catalogue = try catalogue.current()
        let now = clock.now()
        let response: UnverifiedResponse
        do throws(SamlRejection) {
            response = try UnverifiedResponse(encoded: request.samlResponse)
        } catch {
            return log.rejected(error)
        }
        guard let pending = try await resolve(request, catalogue, now) else { return log.rejected(Self.unknownState) }
        guard let parties = SignInParties(pending, catalogue) else { return log.rejected(Self.unknownState, mvpd: pending.mvpd) }
        let answer = Answer(pending: pending, parties: parties, catalogue: catalogue, now: now, log: log)
        let verdict = try await offEventLoop { [saml] () throws(Fault) in
            saml.verdict(on: response, to: pending, from: parties.provider, now: now)
        }
        return try await obey(verdict, answer)
    }

    /// What a verdict is applied to.
    private struct Answer {
        let pending: PendingSignIn
        let parties: SignInParties
        let catalogue: Catalogue
        let now: Timestamp
        let log: SignInLog
    }

    private static let unknownState = SamlRejection(.unknownState, "RelayState and cookie do not lead to a pending sign-in.")

    /// Step 4: RelayState and cookie lead to exactly one pending request.
    private func resolve(
        _ request: CompleteSamlSignInRequest, _ catalogue: Catalogue, _ now: Timestamp
    ) async throws(Fault) -> PendingSignIn? {
        guard request.relayStatePresent, !request.relayState.isEmpty else { return nil }
        guard let pending = try await store.pending(RelayHandle(request.relayState).digest, now: now), pending.way == .saml else { return nil }
        if request.browserSecret.isEmpty {
            return SignInParties(pending, catalogue)?.provider.endpoint.allowMissingCookie == true ? pending : nil
        }
        return pending.browserSecret.matches(BrowserSecret(request.browserSecret)) ? pending : nil
    }

    private func obey(_ verdict: SamlVerdict, _ answer: Answer) async throws(Fault) -> SignInOutcome {
        let (log, mvpd) = (answer.log, answer.pending.mvpd)
        switch verdict {
        case .misconfigured(let codes): return log.misconfigured(codes, mvpd: mvpd)
        case .rejected(let rejection): return log.rejected(rejection, mvpd: mvpd)
        case .accepted, .declined, .silent: break
        }
        let record = try await store.liveRecord(answer.pending.code, now: answer.now)
        guard let record, record.id == answer.pending.record else { return log.rejected(Self.unknownState, mvpd: mvpd) }
        // Found before anything changes: a failure then leaves the answer good for another attempt.
        let redirect = try await redirect(answer, record)
        if case .accepted(let accepted) = verdict { return try await complete(accepted, record, answer, redirect: redirect) }
        guard try await store.abandon(answer.pending.requestID) else { return log.rejected(Self.unknownState, mvpd: mvpd) }
        if case .declined(let codes) = verdict { return log.declined(codes, mvpd: mvpd, redirect: redirect) }
        return log.silent(mvpd: mvpd, redirect: redirect)
    }

    private func complete(
        _ accepted: AcceptedSignIn, _ record: RegistrationRecord, _ answer: Answer, redirect: String
    ) async throws(Fault) -> SignInOutcome {
        let (pending, log) = (answer.pending, answer.log)
        let completion = SignInCompletion(
            requestID: pending.requestID, record: record.id, replay: accepted.replay, session: session(accepted, record, answer))
        switch try await store.complete(completion, now: answer.now) {
        case .completed: return log.signedIn(mvpd: pending.mvpd, redirect: redirect)
        case .notPending, .codeGone: return log.rejected(Self.unknownState, mvpd: pending.mvpd)
        case .replayed: return log.rejected(SamlRejection(.replay, "The assertion was used before."), mvpd: pending.mvpd)
        }
    }

    private func session(_ accepted: AcceptedSignIn, _ record: RegistrationRecord, _ answer: Answer) -> SessionRecord {
        let scope = PlatformScope(record.device.platform)
        let (integration, mvpd) = Catalogue.resolved(answer.parties.integration, answer.parties.provider.mvpd, scope: scope)
        let end = SessionLifetime.end(
            integration, mvpd, isHomeBased: accepted.subject.isHomeBased, limit: accepted.sessionEnd, now: answer.now)
        return SessionRecord(
            id: SessionID(random.uuid()), key: SessionKey(device: record.deviceID, requestor: record.requestor), mvpd: MvpdID(mvpd.id),
            record: record.id, claims: record.claims, clientID: record.clientID,
            userID: scrambler.scramble(accepted.subject.userID, mvpd: MvpdID(mvpd.id)), subject: accepted.subject, createdAt: answer.now,
            expiresAt: end, origin: SessionOrigin(kind: .regular, authenticatedAt: answer.now, identity: record.identity),
            updatedAt: answer.now, device: record.device)
    }

    /// Where the person goes: the app's address if it is still registered, else the channel's default (mvpd §2.4).
    private func redirect(_ answer: Answer, _ record: RegistrationRecord) async throws(Fault) -> String {
        try await SignInDestination(store: store, activationOrigins: activationOrigins)
            .address(answer.pending.redirectURL, record, answer.parties.requestor, answer.catalogue)
    }
}
