package import AuthenticationCore
internal import Catalogue
package import Clocks
internal import ContractRuntime
package import Contracts
package import Faults
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
    let store: SqlAuthenticationStore
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

    /// The sign-in that an answer is applied to.
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

    private func complete(_ subject: ProviderSubject, _ grant: TokenGrant, _ answer: Answer) async throws(Fault) -> SignInOutcome {
        let session = session(subject, answer)
        let tokens = try ProviderTokenRecord(grant, of: session, endpoint: answer.parties.provider.endpoint, seal: seal, now: answer.now)
        guard try await store.start(session, keeping: tokens, now: answer.now) else {
            return answer.log.rejected(OAuthRejection(.unknownState), mvpd: answer.pending.mvpd)
        }
        return answer.log.signedIn(mvpd: answer.pending.mvpd, redirect: answer.redirect)
    }

    private func session(_ subject: ProviderSubject, _ answer: Answer) -> SessionRecord {
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

/// The meaning of an OAuth provider's answer (mvpd §3).
package enum OAuthVerdict: Sendable {
    case accepted(ProviderSubject, TokenGrant)
    /// The MVPD or the person said no.
    case declined(String)
    /// Signed in nowhere, and not to be asked.
    case silent
    /// The person has to be asked without the home network.
    case askAfterAll
    /// The two sides do not fit together: an alarm for the operator. With `error` of the MVPD.
    case misconfigured(String)
    case rejected(OAuthRejection)
    /// The MVPD is away: nothing is said of the person.
    case unavailable(Fault)
}

/// Finds out what an answer of an OAuth provider means: asks the provider, and changes nothing here.
package struct OAuthAnswerCheck: Sendable {
    package let client: ProviderClient
    package let identification: OAuthIdentification
    package let proofs: SignInProofs
    /// The callback that records of before share, exactly as the MVPDs know it.
    package let sharedCallback: String
    package let sharedRule: SharedCallbackRule
    package let announcements: ProviderAnnouncements

    package init(
        client: ProviderClient, identification: OAuthIdentification, proofs: SignInProofs, sharedCallback: String, sharedRule: SharedCallbackRule,
        announcements: ProviderAnnouncements
    ) {
        (self.client, self.identification, self.proofs, self.sharedCallback) = (client, identification, proofs, sharedCallback)
        (self.sharedRule, self.announcements) = (sharedRule, announcements)
    }

    /// - Parameters:
    ///   - request: The request of a browser whose `state` and cookie led to a sign-in.
    ///   - attempt: How the person was asked.
    ///   - callback: As the sign-in began; `nil`: a release before began it, which knew the shared one alone.
    package func verdict(
        on request: CompleteOAuthSignInRequest, as attempt: OAuthAttempt, at callback: OAuthCallback?, from provider: OAuthProvider, now: Timestamp
    ) async -> OAuthVerdict {
        let callback = callback ?? OAuthCallback(shared: sharedCallback, holder: "")
        guard callback.isAt(request.callback) else { return .rejected(OAuthRejection(.callback)) }
        guard await isOfIssuer(request, callback, provider) else { return .rejected(OAuthRejection(.issuer)) }
        if !request.error.isEmpty { return Self.verdict(on: request.error, as: attempt) }
        guard !request.code.isEmpty else { return .rejected(OAuthRejection(.parameters)) }
        do throws(Fault) {
            return try await redeem(request, callback, provider, now)
        } catch {
            return .unavailable(error)
        }
    }

    /// True when the answer says whose it is, as far as that is known of this provider. An `iss` that is sent always counts. It must be sent by
    /// providers that announce it (RFC 9207 §2.4), and at the shared address where the settings say so.
    private func isOfIssuer(_ request: CompleteOAuthSignInRequest, _ callback: OAuthCallback, _ provider: OAuthProvider) async -> Bool {
        if !request.issuer.isEmpty { return OctetText(request.issuer) == OctetText(provider.endpoint.issuer) }
        if provider.endpoint.requiresIssuer || callback.holder.isEmpty && sharedRule == .iss { return false }
        return await !announcements.includeIssuer(of: provider)
    }

    private static func verdict(on error: String, as attempt: OAuthAttempt) -> OAuthVerdict {
        if OAuthErrors.trouble.contains(error) { return .unavailable(Fault(.networkReceivedError, "The TV provider reports \(error).")) }
        if OAuthErrors.interaction.contains(error) {
            switch attempt {
            case .passive: return .silent
            case .homeBased: return .askAfterAll
            case .interactive: return .declined(error)
            }
        }
        return error == "access_denied" ? .declined(error) : .misconfigured(error)
    }

    private func redeem(
        _ request: CompleteOAuthSignInRequest, _ callback: OAuthCallback, _ provider: OAuthProvider, _ now: Timestamp
    ) async throws(Fault) -> OAuthVerdict {
        let state = RelayHandle(request.state)
        let budget = CallBudget(provider.endpoint.totalTimeout)
        let grant: TokenGrant
        switch try await client.redeem(
            request.code, verifier: proofs.verifier(state), redirectURI: callback.address, at: provider, budget: budget)
        {
        case .refused("invalid_grant"): return .rejected(OAuthRejection(.code))
        case .refused(let code): return .misconfigured(code)
        case .granted(let granted): grant = granted
        }
        switch try await identification.identify(grant, nonce: proofs.nonce(state), at: provider, budget: budget, now: now) {
        case .failure(let rejection): return .rejected(rejection)
        case .success(let subject): return .accepted(subject, grant)
        }
    }
}
