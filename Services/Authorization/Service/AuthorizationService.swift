internal import BridgeClient
public import Catalogue
public import Clocks
public import ContractRuntime
public import Contracts
public import CoreMetrics
internal import Faults
public import Logging
public import OutboundHttp
public import Tokens
public import UsageCounting

/// Decisions and short media tokens: the `Authorization` contract.
public struct AuthorizationService: Authorization {
    let catalogue: any CatalogueSource
    let sessions: SessionFinder
    let store: any AuthorizationStore
    private let forms: DecisionForms
    let decisions: DecisionMaker
    private let client: PolicyDecisionClient
    let preauthorizer: Preauthorizer
    let mediaTokens: MediaTokenIssuer
    private let publishedKeys: PublishedMediaTokenKeys
    private let permits: StoredPermits
    let clock: any WallClock
    let logger: Logger
    let resourcesPerDecision: Int
    let tooManyResources = OccasionalWarning()
    let refusals: RefusalNotes?
    private let upstreamTokens: UpstreamTokenCheck?
    let metrics: AuthorizationMetrics

    /// - Parameters:
    ///   - sessions: Authentication's; asked on every call.
    ///   - transport: Carries questions to MVPDs.
    ///   - clientCertificates: The certificates for MVPDs that ask for one.
    ///   - mediaTokens: Signs off the event loop.
    ///   - publishedKeys: The keys that verify these tokens.
    ///   - storedTokenKeys: Sign the permits that apps of the vendor's SDKs keep, and nothing else.
    ///   - identity: As whom MVPDs are asked in the SOAP form.
    ///   - usage: Counts what happens, for reports.
    ///   - refusals: Notes why decisions were a no; `nil`: nobody does.
    ///   - upstreamTokens: Checks media tokens of upstreams; `nil`: they pass unchecked.
    ///   - resourcesPerDecision: The number of resources that a call of v2 may ask to play, at least 1 (rest-v2 §2.9).
    ///   - factory: Keeps the numbers of the metrics.
    ///   - jitter: Pause before a second attempt at an MVPD, 0 to 100 ms by default.
    public init(
        catalogue: any CatalogueSource, sessions: any Sessions, store: any AuthorizationStore, transport: any OutboundTransport,
        clientCertificates: ClientCertificates = ClientCertificates(), mediaTokens: MediaTokenIssuer, publishedKeys: PublishedMediaTokenKeys,
        storedTokenKeys: SigningKeys,
        identity: DecisionIdentity = DecisionIdentity(), usage: UsageCounter = UsageCounter(), refusals: RefusalNotes? = nil,
        upstreamTokens: UpstreamTokenCheck? = nil, resourcesPerDecision: Int = 1,
        clock: any WallClock = SystemClock(), logger: Logger, factory: any MetricsFactory = MetricsSystem.factory,
        jitter: @escaping @Sendable () -> Duration = { .milliseconds(Int64.random(in: 0...100)) }
    ) {
        metrics = AuthorizationMetrics(
            usage: usage,
            mvpds: MvpdCounter("boxoffice_authorization_mvpd_decisions_total", catalogue: catalogue, logger: logger, factory: factory),
            factory: factory)
        self.catalogue = catalogue
        self.sessions = SessionFinder(sessions: sessions, clock: clock)
        self.store = store
        self.mediaTokens = mediaTokens
        self.publishedKeys = publishedKeys
        permits = StoredPermits(keys: storedTokenKeys, clock: clock, logger: logger, metrics: metrics)
        self.clock = clock
        self.resourcesPerDecision = resourcesPerDecision
        self.logger = logger
        forms = DecisionForms(identity: identity, clock: clock)
        let client = PolicyDecisionClient(
            transport: transport, certificates: clientCertificates, clock: clock, forms: forms, tokens: ProviderTokens(sessions: sessions),
            jitter: jitter)
        self.client = client
        let preliminary = PreliminaryPermits(clock: clock)
        decisions = DecisionMaker(
            store: store, client: client, sessions: sessions, clock: clock, logger: logger, metrics: metrics, refusals: refusals,
            plays: UpstreamPlays(
                sessions: sessions, store: store, catalogue: catalogue, clock: clock, metrics: UpstreamPlayMetrics(factory: factory),
                preliminary: preliminary))
        self.refusals = refusals
        self.upstreamTokens = upstreamTokens
        preauthorizer = Preauthorizer(
            preflight: Preflight(client: client), bridged: UpstreamPreflight(sessions: sessions, permits: preliminary), logger: logger,
            metrics: metrics)
    }

    /// No permit lives longer than the longest session: ours a year (mvpd §1.1), an upstream's 400 days (bridge §8.1); and some time for clocks.
    public static let longestPermit: Duration = BridgedEnd.farthest + .seconds(86_400)

    /// Asks MVPDs as somebody else, or with another key, from the next question on.
    public func use(_ identity: DecisionIdentity) { forms.use(identity) }

    /// To be called when a key of stored tokens may have gone.
    public func storedTokenKeysChanged() { permits.keysChanged() }

    /// A decision about one resource (rest-v1 §3.14); a cached permit is given again without asking the MVPD.
    ///
    /// Checks in the order of rest-v1 §2.8: bearer, requestor, device, resource, integration, degradation rule, session, MVPD.
    public func authorize(_ request: AuthorizeRequest, context: CallContext) async throws -> Decision {
        let visit = decisions.visit(request, in: try catalogue.current())
        defer { if let flight = visit?.flight { decisions.plays.flights.end(flight) } }
        let found = try await sessions.find(request.call, visit: visit, context: context)
        let resource = try RequestedResource(request.resource)
        let catalogue = try catalogue.current()
        let requestor = try catalogue.requireRequestor(request.call?.requestor ?? "")
        if case .failure = found, !request.mvpd.isEmpty {
            try refuseDegraded(request.mvpd, requestor, resource, device: request.call?.device, catalogue)
        }
        let session = try found.get()
        guard request.mvpd.isEmpty || request.mvpd == session.mvpd else {
            throw Fault(.authenticationSessionIssuerMismatch, "The session is another MVPD's.")
        }
        let integration = try catalogue.requireIntegration(requestor: requestor.id, mvpd: session.mvpd, platform: session.platform)
        let question = DecisionMaker.Question(
            session: session, resource: resource, integration: integration, degradation: degradation(session, catalogue),
            genericData: request.genericData)
        let token = try await decisions.decide(question, context: context).permit
        var decision = Self.decision(token, resource: resource)
        if request.wantsToken { decision.token = try permits.token(token, of: session, resource) }
        return decision
    }

    /// The cached permit for a resource (rest-v1 §3.15); never asks the MVPD.
    public func getAuthorization(_ request: ResourceRequest, context: CallContext) async throws -> Decision {
        let (session, resource, _, degradation) = try await read(request, context: context)
        let now = clock.now()
        let found = try await store.token(session.tokenKey(resource)) { $0.counts(at: now, mvpd: session.mvpd, degradation) }
        guard let token = found, token.mvpd == session.mvpd, now < token.expiresAt + AuthzToken.remembrance else { throw Self.notFound }
        guard token.counts(at: now, mvpd: session.mvpd, degradation) else { throw Fault(.authorizationExpired, "Gone") }
        return Self.decision(token, resource: resource)
    }

    /// A fresh short media token for a permitted resource (rest-v1 §3.18). An expired permit is as good as none.
    public func issueMediaToken(_ request: ResourceRequest, context: CallContext) async throws -> MediaToken {
        let request = request.authorizationToken.isEmpty ? request : try permits.opened(request)
        // A refusal must cost little: not the question to authentication.
        if let requestor = try catalogue.current().requestor(request.call?.requestor ?? "") {
            try mediaTokens.requireRoom(form: Self.form(requestor))
        }
        let visit = await decisions.visit(request, in: try catalogue.current())
        let (session, resource, requestor, degradation) = try await read(request, visit: visit, context: context)
        let now = clock.now()
        let found = try await store.token(session.tokenKey(resource)) { $0.counts(at: now, mvpd: session.mvpd, degradation) }
        guard let token = found, token.counts(at: now, mvpd: session.mvpd, degradation) else { throw Self.notFound }
        return try await mediaToken(for: token, session, resource, requestor, context)
    }

    /// A media token for what a permit allows (rest-v1 §7).
    /// - Parameter taken: Upstream's, where it came with the permit.
    func mediaToken(
        for permit: AuthzToken, _ session: SessionAtHand, _ resource: RequestedResource, _ requestor: Requestor,
        taken: UpstreamPlays.Media? = nil, _ context: CallContext
    ) async throws(Fault) -> MediaToken {
        if session.isBridged, permit.degradationRule == nil { return try await upstreamToken(session, resource, requestor, taken, context) }
        let play = MediaTokenIssuer.Play(
            sessionGUID: session.session.userID, requestor: requestor.id, resource: resource.text, mvpd: permit.mvpd,
            proxyMvpd: permit.proxyMvpd, ttl: Catalogue.mediaTokenLifetime(requestor))
        let issued = try await mediaTokens.issue(play, form: Self.form(requestor))
        metrics.issuedMediaToken()
        metrics.countMediaToken(session, resource)
        logger.info("media_token.issued", metadata: Self.fields(session, context))
        return MediaToken(
            requestor: requestor.id, mvpd: permit.mvpd, proxyMvpd: permit.proxyMvpd ?? "", resource: resource.text,
            userID: session.session.userID, expiresAtMilliseconds: UInt64(clamping: issued.facts.expiresAt.milliseconds),
            serializedToken: issued.serialized, issuedAtMilliseconds: UInt64(clamping: issued.facts.issuedAt.milliseconds))
    }

    /// Upstream's own, octet for octet (bridge §9.4).
    private func upstreamToken(
        _ session: SessionAtHand, _ resource: RequestedResource, _ requestor: Requestor, _ taken: UpstreamPlays.Media?, _ context: CallContext
    ) async throws(Fault) -> MediaToken {
        let media = if let taken { taken } else { try await decisions.plays.mediaToken(session, resource, context) }
        if let upstreamTokens, let bridge = session.bridge,
            !upstreamTokens.accepts(media.serialized, of: bridge, resource: resource.text, now: clock.now())
        {
            var fields = Self.fields(session, context)
            fields["upstream"] = "\(bridge.upstream)"
            logger.error("bridge.token_mismatch", metadata: fields)
            throw Fault(.internal, "The upstream service's media token is not for this play.")
        }
        metrics.issuedMediaToken()
        metrics.countMediaToken(session, resource)
        logger.info("media_token.passed_on", metadata: Self.fields(session, context))
        return MediaToken(
            requestor: requestor.id, mvpd: session.mvpd, proxyMvpd: media.claims.proxyMvpd ?? session.proxyMvpd ?? "", resource: resource.text,
            userID: media.claims.sessionGUID ?? session.session.userID,
            expiresAtMilliseconds: UInt64(clamping: media.end.milliseconds), serializedToken: media.serialized,
            issuedAtMilliseconds: UInt64(clamping: clock.now().milliseconds))
    }

    /// The keys that verify media tokens of both forms.
    public func getMediaTokenKeys(_ request: GetMediaTokenKeysRequest, context: CallContext) async throws -> MediaTokenKeys {
        MediaTokenKeys(certificates: publishedKeys.certificates, jwks: publishedKeys.jwks, storedTokenJwks: permits.keys.keySet.json)
    }

    /// The MVPDs whose decision points fail now, for operators.
    public func listFailingDecisionPoints(
        _ request: ListFailingDecisionPointsRequest, context: CallContext
    ) async throws -> FailingDecisionPoints { client.failing(in: try catalogue.current()) }

    /// The last no of each of these sessions, for support.
    public func findRefusals(_ request: FindRefusalsRequest, context: CallContext) async throws -> SessionRefusals {
        guard let refusals else { throw Fault(.unimplemented, "No refusals are kept here.") }
        guard request.sessionIDs.count <= 100 else { throw Fault(.invalidRequest, "At most 100 sessions may be asked for at once.") }
        return SessionRefusals(
            refusals: try await refusals.find(request.sessionIDs).map {
                SessionRefusal(sessionID: $0.session, code: $0.code, source: $0.source, refusedAtMilliseconds: UInt64(clamping: $0.at.milliseconds))
            })
    }

    /// The checks of the reading calls. A session whose integration is switched off is hidden (rest-v1 §5); so are permits for what an
    /// AuthZ-None rule covers (rest-v1 §6.1).
    private func read(
        _ request: ResourceRequest, visit: UpstreamVisit? = nil, context: CallContext
    ) async throws(Fault) -> (session: SessionAtHand, resource: RequestedResource, requestor: Requestor, degradation: Degradation) {
        let found = try await sessions.find(request.call, visit: visit, context: context)
        let resource = try RequestedResource(request.resource)
        let session = try found.get()
        let catalogue = try catalogue.current()
        let requestor = try catalogue.requireRequestor(session.requestor)
        guard catalogue.integration(requestor: requestor.id, mvpd: session.mvpd)?.enabled == true else {
            throw Fault(.authenticationSessionMissing, "User not authenticated")
        }
        let degradation = degradation(session, catalogue)
        // An app that keeps its permit asks for no decision any more: it is told here.
        if case .blocked(let rule) = degradation.effect(on: resource) { throw session.stored == nil ? Self.notFound : Denial(rule).fault }
        return (session, resource, requestor, degradation)
    }

    /// The rules in force for a session's device.
    func degradation(_ session: SessionAtHand, _ catalogue: Catalogue) -> Degradation {
        Degradation(catalogue, requestor: session.requestor, mvpd: session.mvpd, platform: session.platform, now: clock.now())
    }

    /// Checks the conditions that come before a missing session when the app names the MVPD.
    private func refuseDegraded(
        _ mvpd: String, _ requestor: Requestor, _ resource: RequestedResource, device: DeviceInformation?, _ catalogue: Catalogue
    ) throws(Fault) {
        _ = try catalogue.requireIntegration(requestor: requestor.id, mvpd: mvpd)
        let degradation = Degradation(catalogue, requestor: requestor.id, mvpd: mvpd, platform: device?.platform, now: clock.now())
        if case .blocked(let rule) = degradation.effect(on: resource) { throw Denial(rule).fault }
    }

    static func form(_ requestor: Requestor) -> MediaTokenIssuer.Form { requestor.mediaTokenFormat == .jws ? .jws : .reference }

    private static let notFound = Fault(.authorizationNotFound, "Not Found")

    private static func decision(_ token: AuthzToken, resource: RequestedResource) -> Decision {
        Decision(
            requestor: token.key.requestor, mvpd: token.mvpd, proxyMvpd: token.proxyMvpd ?? "", resource: resource.text,
            expiresAtMilliseconds: UInt64(clamping: token.expiresAt.milliseconds))
    }

    static func fields(_ session: SessionAtHand, _ context: CallContext) -> Logger.Metadata {
        ["requestor": "\(session.requestor)", "mvpd": "\(session.mvpd)", "trace_id": "\(context.trace.traceID)"]
    }
}

extension AuthorizationService {
    /// The resources, among several, that the device may watch (rest-v1 §3.16). Makes no authz tokens.
    ///
    /// Checks in the order of rest-v1 §2.8: bearer, requestor, device, resources, session, integration, limit, degradation rule, MVPD.
    public func preauthorize(_ request: PreauthorizeRequest, context: CallContext) async throws -> Preauthorization {
        let found = try await sessions.find(request.call, context: context)
        return try await preauthorize(request.resources, found, context: context)
    }

    /// The same for the device that a code was made for (rest-v1 §3.17).
    public func preauthorizeByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws -> Preauthorization {
        let found = try await sessions.findByCode(request, context: context)
        return try await preauthorize(request.resources, found, context: context)
    }

    private func preauthorize(
        _ list: ResourceList?, _ found: Result<SessionAtHand, Fault>, context: CallContext
    ) async throws(Fault) -> Preauthorization {
        let resources = try (list?.items.isEmpty == false ? RequestedResources(each: list?.items ?? []) : RequestedResources(list?.text)).items
        let session = try found.get()
        let catalogue = try catalogue.current()
        let integration = try catalogue.requireIntegration(requestor: session.requestor, mvpd: session.mvpd, platform: session.platform)
        let answer = try await preauthorizer.preauthorize(
            resources, session, integration: integration, degradation: degradation(session, catalogue), context: context)
        metrics.count(answer, of: resources, session)
        return answer
    }
}
