internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers
internal import Logging

/// Takes an OAuth provider's answer and makes a session of it, or not (mvpd §3).
struct OAuthSignInFinisher: Sendable {
    let starter: OAuthSignInStarter
    let check: OAuthAnswerCheck
    let tests: any TestAnswers
    let seal: TokenSeal
    let destination: SignInDestination
    let catalogue: any CatalogueSource
    let store: any AuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let scrambler: UserIDScrambler
    let metrics: AuthenticationMetrics
    let logger: Logger
    let reports: any SignInReporting

    /// An answer that fails a check is an outcome, not a fault. The first answer with the right state and cookie uses the request up.
    /// - Throws: Faults of the storage and of a missing catalogue; `unavailable` when the MVPD is away. The person has to start again.
    func finish(_ request: CompleteOAuthSignInRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome {
        let now = clock.now()
        var log = SignInLog(logger: logger, metrics: metrics, trace: trace, reports: reports, now: now)
        log.checksIdentityToken = false
        let catalogue = try catalogue.current()
        let state = RelayHandle(request.state).digest
        guard !request.state.isEmpty else { return log.rejected(OAuthRejection(.unknownState)) }
        guard let pending = try await store.pending(state, now: now) else {
            return try await tests.finish(request, trace: trace) ?? log.rejected(OAuthRejection(.unknownState))
        }
        guard case .oauth(let attempt) = pending.way, let parties = Parties(pending, catalogue),
            isSameBrowser(request, pending, parties.provider), try await store.abandon(pending.requestID)
        else { return log.rejected(OAuthRejection(.unknownState)) }
        let record = try await store.liveRecord(pending.code, now: now)
        log.personReturned(pending, record)
        (log.requestor, log.checksIdentityToken) = (pending.requestor, !parties.provider.endpoint.jwksURL.isEmpty)
        guard let record, record.id == pending.record else { return log.rejected(OAuthRejection(.unknownState), mvpd: pending.mvpd) }
        let redirect = try await destination.address(pending.redirectURL, record, parties.requestor, catalogue)
        let answer = Answer(pending: pending, parties: parties, record: record, redirect: redirect, now: now, log: log)
        return try await obey(await check.verdict(on: request, as: attempt, at: pending.callback, from: parties.provider, now: now), answer)
    }

    /// What an answer is applied to.
    private struct Answer {
        let pending: PendingSignIn
        let parties: Parties
        let record: RegistrationRecord
        let redirect: String
        let now: Timestamp
        let log: SignInLog
    }

    /// Requestor, integration and MVPD, as far as they still belong together.
    private struct Parties {
        let requestor: Requestor
        let integration: Integration
        let provider: OAuthProvider

        init?(_ pending: PendingSignIn, _ catalogue: Catalogue) {
            guard let requestor = catalogue.requestor(pending.requestor.text),
                let (integration, mvpd) = try? catalogue.requireIntegration(requestor: requestor.id, mvpd: pending.mvpd.text),
                let provider = OAuthProvider(mvpd, integration, in: catalogue)
            else { return nil }
            self.requestor = requestor
            self.integration = integration
            self.provider = provider
        }
    }

    private func isSameBrowser(_ request: CompleteOAuthSignInRequest, _ pending: PendingSignIn, _ provider: OAuthProvider) -> Bool {
        pending.accepts(request.browserSecret, isEmbedded: request.isEmbedded, allowsMissing: provider.endpoint.allowMissingCookie)
    }

    private func obey(_ verdict: OAuthVerdict, _ answer: Answer) async throws(Fault) -> SignInOutcome {
        let (log, mvpd) = (answer.log, answer.pending.mvpd)
        switch verdict {
        case .accepted(let subject, let grant): return try await complete(subject, grant, answer)
        case .declined(let error): return log.declined([error], mvpd: mvpd, redirect: answer.redirect)
        case .silent: return log.silent(mvpd: mvpd, redirect: answer.redirect)
        case .askAfterAll: return try await askAfterAll(answer)
        case .misconfigured(let code): return log.oauthMisconfigured(code, mvpd: mvpd)
        case .rejected(let rejection): return log.rejected(rejection, mvpd: mvpd)
        case .unavailable(let fault): throw log.unavailable(fault, mvpd: mvpd)
        }
    }

    /// One more attempt, without the home network (mvpd §3).
    private func askAfterAll(_ answer: Answer) async throws(Fault) -> SignInOutcome {
        let next = try await starter.begin(
            answer.parties.provider, answer.record, .interactive, end: answer.pending.redirectURL,
            isHandedOver: answer.pending.browserSecret == nil, now: answer.now)
        guard let next else { return answer.log.rejected(OAuthRejection(.unknownState), mvpd: answer.pending.mvpd) }
        return answer.log.continued(next, mvpd: answer.pending.mvpd)
    }

    private func complete(_ subject: UpstreamSubject, _ grant: TokenGrant, _ answer: Answer) async throws(Fault) -> SignInOutcome {
        let session = session(subject, answer)
        let tokens = try UpstreamTokenRecord(grant, of: session, endpoint: answer.parties.provider.endpoint, seal: seal, now: answer.now)
        guard try await store.start(session, keeping: tokens, now: answer.now) else {
            return answer.log.rejected(OAuthRejection(.unknownState), mvpd: answer.pending.mvpd)
        }
        return answer.log.signedIn(mvpd: answer.pending.mvpd, redirect: answer.redirect)
    }

    private func session(_ subject: UpstreamSubject, _ answer: Answer) -> SessionRecord {
        let (record, now) = (answer.record, answer.now)
        let (integration, mvpd) = Catalogue.resolved(
            answer.parties.integration, answer.parties.provider.mvpd, scope: PlatformScope(record.device.platform))
        var end = SessionLifetime.end(integration, mvpd, isHomeBased: subject.isHomeBased, limit: nil, now: now)
        let refresh = answer.parties.provider.endpoint.refreshTokenTtlSeconds
        // mvpd §3: not beyond what the refresh token can uphold.
        if subject.isHomeBased, refresh != 0 { end = min(end, now + .seconds(Int64(refresh))) }
        let id = SessionID(random.uuid())
        return SessionRecord(
            id: id, key: SessionKey(device: record.deviceID, requestor: record.requestor), mvpd: MvpdID(mvpd.id), record: record.id,
            claims: record.claims, clientID: record.clientID, userID: scrambler.scramble(subject.userID, mvpd: MvpdID(mvpd.id)), subject: subject,
            createdAt: now, expiresAt: end,
            origin: SessionOrigin(
                kind: .regular, authenticatedAt: now, identity: record.identity, serviceIdentity: record.serviceIdentity, upstream: id),
            updatedAt: now,
            device: record.device)
    }
}
