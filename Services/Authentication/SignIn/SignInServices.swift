package import AuthenticationCore
package import ContractRuntime
package import Contracts
package import Faults
package import OutboundHttp
package import SamlProfile
package import Tokens

/// Browsers come back here from providers and logouts.
package struct SignInAddresses: Sendable {
    /// The gateway's address, before the handle of a logout's visit.
    package var logoutVisit: String
    /// The gateway's address to which browsers come back from OpenID providers' logouts.
    package var logoutReturn: String
    /// The callback that records of before share, exactly as the MVPDs know it.
    package var oauthCallback: String
    package var oauthCallbackRule: SharedCallbackRule

    package init(logoutVisit: String, logoutReturn: String, oauthCallback: String, oauthCallbackRule: SharedCallbackRule = .open) {
        (self.logoutVisit, self.logoutReturn) = (logoutVisit, logoutReturn)
        (self.oauthCallback, self.oauthCallbackRule) = (oauthCallback, oauthCallbackRule)
    }
}

/// Ways to a session and out of it: at an MVPD by SAML or OAuth, through a platform, by service tokens, on trial; and logout.
package struct SignInServices: CallRegistration {
    package let keySets: ProviderKeySets
    package let signedMetadata: SignedMetadata
    package let oauth: OAuthMethod
    private let calls: [any CallRegistration]

    /// - Parameters:
    ///   - transport: Reaches OAuth providers; its owner shuts it down.
    ///   - delegates: Come before the own methods.
    package init(
        _ environment: AuthenticationEnvironment, _ clients: ClientServices, _ sessions: SessionServices, serviceTokenKeys: ServiceTokenKeys,
        saml: any SamlSignIn, logout: any SamlLogout, addresses: SignInAddresses, transport: any OutboundTransport, delegates: Delegates,
        reports: any SignInReporting, tests: any TestAnswers
    ) {
        let (catalogue, store, clock, random) = (environment.catalogue, environment.store, environment.clock, environment.random)
        let (scrambler, metrics, logger, ends) = (environment.scrambler, environment.metrics, environment.logger, environment.ends)
        let (bearers, seal, lookup) = (clients.bearers, environment.keys.seal, sessions.lookup)
        let degraded = DegradedSessions(store: store, clock: clock, random: random, scrambler: scrambler, metrics: metrics)
        let handOver = HandOver(bearers: bearers)

        // In a browser.
        let client = ProviderClient(transport: transport, gate: ProviderGate(), secrets: clients.clientSecrets, metrics: metrics, logger: logger)
        keySets = ProviderKeySets(client: client, clock: clock)
        let check = OAuthAnswerCheck(
            client: client, identification: OAuthIdentification(client: client, keySets: keySets), proofs: environment.keys.proofs,
            sharedCallback: addresses.oauthCallback, sharedRule: addresses.oauthCallbackRule,
            announcements: ProviderAnnouncements(client: client, store: store, clock: clock))
        let oauthStarter = OAuthSignInStarter(
            store: store, random: random, proofs: environment.keys.proofs, sharedCallback: addresses.oauthCallback, metrics: metrics)
        oauth = OAuthMethod(
            starter: oauthStarter, handOver: handOver,
            finisher: OAuthSignInFinisher(
                starter: oauthStarter, check: check, tests: tests, seal: seal, destination: SignInDestination(store: store, ends: ends),
                catalogue: catalogue, store: store, clock: clock, random: random, scrambler: scrambler, metrics: metrics, logger: logger,
                reports: reports))
        let samlMethod = SamlMethod(
            saml: saml, store: store, random: random, metrics: metrics, handOver: handOver,
            finisher: SamlSignInFinisher(
                saml: saml, catalogue: catalogue, store: store, clock: clock, random: random, scrambler: scrambler, ends: ends, metrics: metrics,
                logger: logger, reports: reports, tests: tests))
        let trials = OwnTrials(store: store, clock: clock, random: random, scrambler: scrambler, metrics: metrics)
        let browser = BrowserSignIns(
            catalogue: catalogue, store: store, clock: clock, ends: ends, degraded: degraded,
            methods: delegates.browser + [BrowserTrialMethod(trials: trials), oauth, samlMethod])

        // Without one.
        let previews = FreePreviews(bearers: bearers, methods: delegates.trial + [DeviceTrialMethod(trials: trials)])
        let resets = TempPassReset(bearers: bearers, catalogue: catalogue, store: store, metrics: metrics, others: delegates.resets)
        let requests = ProfileRequests(saml: saml, store: store, clock: clock, random: random, metrics: metrics)
        let exchanger = PlatformExchanger(
            saml: saml, store: store, clock: clock, random: random, scrambler: scrambler, degraded: degraded,
            log: PlatformExchangeLog(logger: logger, metrics: metrics, reports: reports))
        let platform = PlatformSignIns(
            bearers: bearers, methods: delegates.platform + [PlatformSamlMethod(requests: requests, exchanger: exchanger)])
        let serviceTokens = ServiceTokenController(
            bearers: bearers, check: clients.serviceTokens, issuer: ServiceTokenSigner(keys: serviceTokenKeys), store: store,
            scrambler: scrambler, clock: clock, random: random)

        // Sessions of v2, automatic sessions, logout.
        let profiles = ProfileLookup(
            bearers: bearers, sessions: lookup, store: store, metadata: sessions.metadata, scrambler: scrambler, clock: clock)
        let plans = SignInPlans(
            bearers: bearers, codes: sessions.codes, sessions: lookup, profiles: profiles, store: store, clock: clock, random: random, ends: ends)
        let partners = PartnerSignIns(
            bearers: bearers, plans: plans, profiles: profiles, requests: requests, exchanger: exchanger, clock: clock)
        let logouts = SingleLogout(
            bearers: bearers, saml: logout, catalogue: catalogue, store: store, clock: clock, random: random, visitAddress: addresses.logoutVisit,
            returnAddress: addresses.logoutReturn, seal: seal, metrics: metrics, log: LogoutLog(logger: logger, metrics: metrics),
            methods: delegates.browser)
        let profileLogout = ProfileLogout(
            bearers: bearers, logouts: logouts, store: store, sessions: lookup, clock: clock, metrics: metrics, ends: ends)
        let automatic = AutomaticSessions(
            bearers: bearers, catalogue: catalogue, store: store, seal: seal, metadata: sessions.metadata, clock: clock, random: random,
            metrics: metrics)
        let tokens = ProviderTokens(
            client: client, catalogue: catalogue, store: store, seal: seal, clock: clock, metrics: metrics, logger: logger)
        signedMetadata = SignedMetadata(saml: saml, catalogue: catalogue, clock: clock)
        calls = [
            browser, samlMethod, oauth, previews, resets, platform, serviceTokens, profiles, plans, partners, logouts, profileLogout, automatic,
            tokens, signedMetadata, CallerIdentification(bearers: bearers, sessions: lookup),
            SessionSubjects(
                sessions: lookup, stored: sessions.stored, profiles: profiles, deciders: delegates.deciders, plays: delegates.plays,
                catalogue: catalogue),
        ]
    }

    package func register(on calls: inout some MethodRegistry) { for owner in self.calls { owner.register(on: &calls) } }
}

/// Takes the answers that providers give to test sign-ins: they come to the same addresses as viewers' answers.
package protocol TestAnswers: Sendable {
    /// - Returns: `nil` when the answer is to no test.
    func finish(_ request: CompleteSamlSignInRequest, _ response: UnverifiedResponse, trace: TraceContext) async throws(Fault) -> SignInOutcome?

    /// - Returns: `nil` when the answer is to no test.
    func finish(_ request: CompleteOAuthSignInRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome?
}
