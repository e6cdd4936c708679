package import AuthenticationCore
package import AuthenticationSignIn
internal import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import Identifiers
package import Logging
package import OutboundHttp
internal import SamlExplanation
package import SamlProfile

/// Signs in by a configuration that is not pushed, so that an administrator sees each check before anybody depends on it.
///
/// Nothing of it reaches a viewer. It has a table, a key cache and a gate of its own. It makes no session, keeps no token and is not counted.
package struct TestSignIns: TestAnswers {
    package let saml: any SamlSignIn
    package let oauth: OAuthAnswerCheck
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let random: any RandomSource
    package let logger: Logger
    package let reports: any SignInReporting
    /// MVPDs' answers to test users count as much as those to viewers; `nil`: the database's clock is the measure.
    package var clockDoubt: ClockDoubt?

    /// With a gate of its own: a draft's provider that hangs takes no place of a viewer's.
    package init(
        _ environment: AuthenticationEnvironment, _ clients: ClientServices, saml: any SamlSignIn, addresses: SignInAddresses,
        transport: any OutboundTransport, reports: any SignInReporting
    ) {
        let (clock, metrics, logger) = (environment.clock, environment.metrics, environment.logger)
        let client = ProviderClient(transport: transport, gate: ProviderGate(), secrets: clients.clientSecrets, metrics: metrics, logger: logger)
        oauth = OAuthAnswerCheck(
            client: client, identification: OAuthIdentification(client: client, keySets: ProviderKeySets(client: client, clock: clock)),
            proofs: environment.keys.proofs, sharedCallback: addresses.oauthCallback, sharedRule: addresses.oauthCallbackRule,
            announcements: ProviderAnnouncements(client: client, store: nil, clock: clock))
        (self.saml, self.reports, store) = (saml, reports, environment.store)
        (self.clock, random, self.logger, clockDoubt) = (clock, environment.random, logger, metrics.clock)
    }

    /// - Parameter isScheduled: By the live configuration, and nobody waits for its report.
    /// - Throws: `invalid_request`, `unimplemented`, `overloaded`, as the contract says.
    package func begin(_ request: BeginTestSignInRequest, isScheduled: Bool = false) async throws(Fault) -> TestSignIn {
        let now = clock.now()
        guard let configuration = request.configuration else { throw Self.incomplete }
        let encoded = try configuration.serialized()
        guard encoded.count <= TestSignInRecord.largestConfiguration else {
            throw Fault(.invalidRequest, "Requestor and MVPD have more than \(TestSignInRecord.largestConfiguration) octets together.")
        }
        let catalogue = Catalogue(configuration)
        guard let requestor = catalogue.requestor(request.requestor),
            let (integration, mvpd) = try? catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd)
        else { throw Self.incomplete }
        let way = try Self.way(mvpd, integration, catalogue)
        let ticket = TestSignInTicket(RelayHandle.random(from: random).text)
        let test = TestSignInRecord(
            id: TestSignInID(TraceContext.random().traceID), requestor: RequestorID(requestor.id), mvpd: MvpdID(mvpd.id),
            programmer: ProgrammerID(requestor.programmerID), configuration: encoded, way: way,
            expiresAt: now + (isScheduled ? TestSignInRecord.longestScheduled : TestSignInRecord.longestPending), isScheduled: isScheduled,
            stage: .waiting(ticket: ticket.digest))
        guard try await store.add(test, now: now) else {
            throw Fault(.overloaded, "\(TestSignInRecord.most) test sign-ins are under way.", retryAfter: .seconds(60))
        }
        return TestSignIn(id: test.id.text, ticket: ticket.text, expiresAtMilliseconds: UInt64(clamping: test.expiresAt.milliseconds))
    }

    /// Sends the browser to the MVPD.
    /// - Throws: `not_found`.
    package func open(_ request: OpenTestSignInRequest) async throws(Fault) -> SignInStart {
        let now = clock.now()
        let ticket = TestSignInTicket(request.ticket).digest
        guard let test = try await store.testSignIn(ticket, now: now), case .waiting = test.stage,
            let start = try await start(test, from: ticket, test.way, now)
        else { throw Fault(.notFound, "The address of the test was opened before, or is over.") }
        return start
    }

    private static let incomplete = Fault(.invalidRequest, "The configuration lacks the requestor, the MVPD or their integration.")

    private static func way(_ mvpd: Mvpd, _ integration: Integration, _ catalogue: Catalogue) throws(Fault) -> SignInWay {
        if let provider = OAuthProvider(mvpd, integration, in: catalogue) { return .oauth(provider.endpoint.attemptHba ? .homeBased : .interactive) }
        _ = try SamlProvider(mvpd, in: catalogue)
        return .saml
    }

    /// - Returns: `nil` when somebody else was first.
    private func start(_ test: TestSignInRecord, from before: SecretDigest, _ way: SignInWay, _ now: Timestamp) async throws(Fault) -> SignInStart? {
        let (catalogue, integration, mvpd) = try parties(test)
        let browser = BrowserSecret.random(from: random)
        let id = SamlRequestID.random(from: random)
        var start: SignInStart
        let (relay, issuer): (RelayHandle, String)
        var callback: OAuthCallback?
        if case .oauth(let attempt) = way, let provider = OAuthProvider(mvpd, integration, in: catalogue) {
            relay = oauth.proofs.state(from: random)
            let place = provider.callback(oauth.sharedCallback)
            callback = place
            let address = AuthorizationRequest(
                provider: provider, attempt: attempt, state: relay, proofs: oauth.proofs, redirectURI: place.address
            ).url
            (start, issuer) = (SignInStart(url: address), provider.clientID)
        } else {
            relay = RelayHandle.random(from: random)
            let request = SamlRequest(
                id: id, relay: relay, requestor: test.requestor, provider: try SamlProvider(mvpd, in: catalogue), now: now)
            let dispatch = try await offEventLoop { [saml] () throws(Fault) in try saml.request(request) }
            (start, issuer) = (SignInStart(url: dispatch.url, fields: dispatch.fields), dispatch.issuer)
        }
        let request = TestSignInRecord.Request(
            id: id, relayState: relay.digest, browserSecret: browser.digest, issuerSent: issuer, startedAt: now,
            callback: callback)
        guard try await store.open(test.id, from: before, request, way, now: now) else { return nil }
        start.browserSecret = browser.text
        start.expiresInSeconds = UInt32(clamping: (test.expiresAt - now).components.seconds)
        return start
    }

    private func parties(_ test: TestSignInRecord) throws(Fault) -> (Catalogue, Integration, Mvpd) {
        let catalogue = Catalogue(try Configuration(serialized: test.configuration))
        let (integration, mvpd) = try catalogue.requireIntegration(requestor: test.requestor.text, mvpd: test.mvpd.text)
        return (catalogue, integration, mvpd)
    }
}

// The MVPD's answers.
extension TestSignIns {
    /// - Returns: `nil` when the answer is to no test.
    package func finish(
        _ request: CompleteSamlSignInRequest, _ response: UnverifiedResponse, trace: TraceContext
    ) async throws(Fault) -> SignInOutcome? {
        let now = clock.now()
        let handle = RelayHandle(request.relayState).digest
        guard let (test, sent) = try await opened(handle, now), test.way == .saml else { return nil }
        var log = log(of: test, trace, now)
        guard isSameBrowser(request.browserSecret, request.isEmbedded, sent) else {
            return log.rejected(SamlSignInFinisher.unknownState, mvpd: test.mvpd, at: .pendingRequest, hint: SamlSignInFinisher.otherBrowserHint)
        }
        let (catalogue, _, mvpd) = try parties(test)
        let provider = try SamlProvider(mvpd, in: catalogue)
        let recorded = SamlExpectations.Recorded(id: sent.id, startedAt: sent.startedAt, issuerSent: sent.issuerSent)
        let finding = try await offEventLoop { [saml] () throws(Fault) in saml.verdict(on: response, to: recorded, from: provider, now: now) }
        log.explanation = finding.explanation
        var replay: SignInCompletion.Replay?
        if case .accepted(let assertion) = finding.verdict { replay = assertion.replay }
        switch try await store.finish(test.id, handle, replay, now: now) {
        case .ended: return Self.outcome(finding, test, log)
        case .notPending:
            return log.rejected(SamlSignInFinisher.unknownState, mvpd: test.mvpd, at: .pendingRequest, hint: SamlSignInFinisher.answeredHint)
        case .replayed:
            let rejection = SamlRejection(.replay, "The assertion was used before.")
            return log.rejected(rejection, mvpd: test.mvpd, at: .replay, hint: SamlSignInFinisher.replayHint)
        }
    }

    private static func outcome(_ finding: ResponseFinding, _ test: TestSignInRecord, _ log: SignInLog) -> SignInOutcome {
        switch finding.verdict {
        case .accepted: log.signedIn(mvpd: test.mvpd, redirect: "")
        case .rejected(let rejection): log.rejected(rejection, mvpd: test.mvpd)
        case .status(let status):
            switch status.consequence {
            case .declined: log.declined(status.codes, mvpd: test.mvpd, redirect: "")
            case .notAuthenticated: log.silent(mvpd: test.mvpd, redirect: "")
            case .misconfigured: log.misconfigured(status.codes, mvpd: test.mvpd)
            }
        }
    }

    /// - Returns: `nil` when the answer is to no test.
    package func finish(_ request: CompleteOAuthSignInRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome? {
        let now = clock.now()
        let handle = RelayHandle(request.state).digest
        guard let (test, sent) = try await opened(handle, now), case .oauth(let attempt) = test.way else { return nil }
        let (catalogue, integration, mvpd) = try parties(test)
        guard let provider = OAuthProvider(mvpd, integration, in: catalogue) else { return nil }
        var log = log(of: test, trace, now)
        log.checksIdentityToken = !provider.endpoint.jwksURL.isEmpty
        guard isSameBrowser(request.browserSecret, request.isEmbedded, sent) else {
            return log.rejected(OAuthRejection(.unknownState), mvpd: test.mvpd)
        }
        // The first call uses it up: a code is good for one call.
        guard try await store.finish(test.id, handle, nil, now: now) == .ended else {
            return log.rejected(OAuthRejection(.unknownState), mvpd: test.mvpd)
        }
        let verdict = await oauth.fresh(clock).verdict(on: request, as: attempt, at: sent.callback, from: provider, now: now)
        switch verdict {
        case .accepted: return log.signedIn(mvpd: test.mvpd, redirect: "")
        case .askAfterAll: return try await askAfterAll(test, log, now)
        case .declined(let error): return log.declined([error], mvpd: test.mvpd, redirect: "")
        case .silent: return log.silent(mvpd: test.mvpd, redirect: "")
        case .misconfigured(let code): return log.oauthMisconfigured(code, mvpd: test.mvpd)
        case .rejected(let rejection): return log.rejected(rejection, mvpd: test.mvpd)
        case .unavailable(let fault):
            _ = log.unavailable(fault, mvpd: test.mvpd)
            return log.outcome(.rejected, reason: OAuthExplanation.away)
        }
    }

    /// One more attempt, without the home network (mvpd §3).
    private func askAfterAll(_ test: TestSignInRecord, _ log: SignInLog, _ now: Timestamp) async throws(Fault) -> SignInOutcome {
        let ticket = TestSignInTicket(RelayHandle.random(from: random).text).digest
        var again = test
        again.stage = .waiting(ticket: ticket)
        guard try await store.add(again, now: now), let next = try await start(again, from: ticket, .oauth(.interactive), now) else {
            return log.rejected(OAuthRejection(.unknownState), mvpd: test.mvpd)
        }
        return log.continued(next, mvpd: test.mvpd)
    }

    private func opened(_ handle: SecretDigest, _ now: Timestamp) async throws(Fault) -> (TestSignInRecord, TestSignInRecord.Request)? {
        guard let test = try await store.testSignIn(handle, now: now), case .open(let request) = test.stage else { return nil }
        return (test, request)
    }

    /// An administrator's browser sends cookies, whatever the MVPD allows to viewers'.
    private func isSameBrowser(_ secret: String, _ isEmbedded: Bool, _ sent: TestSignInRecord.Request) -> Bool {
        !isEmbedded && sent.browserSecret.matches(BrowserSecret(secret))
    }

    /// Under the test's own id, by which the administrator waits for it.
    private func log(of test: TestSignInRecord, _ trace: TraceContext, _ now: Timestamp) -> SignInLog {
        let own = TraceContext(traceparent: "00-\(test.id.text)-\(trace.spanID)-01") ?? trace
        var log = SignInLog(
            logger: logger, metrics: AuthenticationMetrics(clock: test.isScheduled ? clockDoubt : nil), trace: own, reports: reports, now: now)
        log.requestor = test.requestor
        log.test = test
        return log
    }
}

extension OAuthAnswerCheck {
    /// With no key set in memory: what a draft says of a provider must not become what viewers' sign-ins know, nor the other way round.
    fileprivate func fresh(_ clock: any WallClock) -> OAuthAnswerCheck {
        OAuthAnswerCheck(
            client: client, identification: OAuthIdentification(client: client, keySets: ProviderKeySets(client: client, clock: clock)),
            proofs: proofs, sharedCallback: sharedCallback, sharedRule: sharedRule,
            announcements: ProviderAnnouncements(client: client, store: nil, clock: clock))
    }
}

extension TestSignIns: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.openTestSignIn) { request, _ in try await open(request) }
        calls.unary(AuthenticationOperationsMethods.beginTestSignIn) { request, _ in try await begin(request) }
    }
}
