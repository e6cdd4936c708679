internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import UsageCounting

/// Signs people in by an upstream's login (bridge §7).
struct UpstreamMethod: BrowserSignInMethod, CallRegistration {
    let signIns: UpstreamSignIns
    let sessions: UpstreamSessions
    let logouts: UpstreamLogouts
    let journeys: UpstreamJourneys

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.returnFromBridge) { request, context in
            try await journeys.returning(trace: context.trace.traceID) { try await finish(request, trace: context.trace) }
        }
    }

    func serves(_ attempt: BrowserAttempt) -> Bool { attempt.catalogue.bridgeWay(requestor: attempt.requestor.id, mvpd: attempt.mvpd.id) != nil }

    func begin(_ attempt: BrowserAttempt) async throws(Fault) -> SignInStart {
        guard let way = attempt.catalogue.bridgeWay(requestor: attempt.requestor.id, mvpd: attempt.mvpd.id) else { throw Fault.notByUpstream }
        return try await journeys.starting(UpstreamJourney.Parties(attempt.record, way), trace: attempt.trace.traceID) { () async throws(Fault) in
            try await signIns.start(attempt.request, attempt.record, way)
        }
    }

    func finish(_ answer: ReturnFromBridgeRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome {
        try await signIns.finish(answer, trace: trace)
    }

    func settle(_ viewer: DeviceCaller, _ call: DeviceCall?) async throws(Fault) { try await sessions.settle(viewer, call) }

    func settle(_ code: RegistrationRecord) async throws(Fault) { try await sessions.settle(code) }

    func hides(_ session: SessionRecord) async throws(Fault) -> Bool { try await sessions.hides(session) }

    func hasEnded(_ viewer: DeviceCaller) async throws(Fault) -> Bool { try await sessions.hasEnded(viewer) }

    func end(_ ended: [SessionRecord], leadingTo end: String?) async throws(Fault) -> EndedAtProvider? {
        try await logouts.tell(ended, leadingTo: end)
    }
}

/// Takes what a platform's framework got to an upstream, which checks the answer (bridge §11).
struct UpstreamPlatformMethod: PlatformSignInMethod {
    let partners: UpstreamPartners
    let degraded: DegradedSessions
    let clock: any WallClock

    func serves(_ attempt: PlatformAttempt) -> Bool {
        attempt.client.catalogue.bridgeWay(requestor: attempt.requestor.text, mvpd: attempt.mvpd.id) != nil
    }

    func begin(_ attempt: PlatformAttempt) async throws(Fault) -> ProfileRequest {
        let catalogue = attempt.client.catalogue
        guard let way = catalogue.bridgeWay(requestor: attempt.requestor.text, mvpd: attempt.mvpd.id) else { throw Fault.notByUpstream }
        let settings = try PlatformSsoRules.requireOn(attempt.integration, attempt.mvpd, attempt.platform)
        return try await partners.request(attempt.client, try catalogue.requireRequestor(attempt.requestor.text), way, settings)
    }

    func finish(_ answer: PlatformAnswer, trace: TraceContext) async throws(Fault) -> SessionRecord {
        let (caller, request, platform) = (answer.caller, answer.request, answer.platform)
        guard let way = caller.catalogue.bridgeWay(requestor: caller.requestor.text, mvpd: request.mvpd) else { throw Fault.notByUpstream }
        let (integration, mvpd) = try caller.catalogue.requireIntegration(requestor: way.requestor, mvpd: way.mvpd, platform: platform)
        let settings = try PlatformSsoRules.requireOn(integration, mvpd, platform)
        let rule = caller.catalogue.degradation(requestor: way.requestor, mvpd: way.mvpd, platform: platform, resource: nil, now: clock.now())
        if let rule { return try await degraded.start(caller, integration: integration, mvpd: mvpd, rule: rule) }
        return try await partners.exchange(request.samlResponse, caller, BridgeDevice(request.call ?? DeviceCall()), way, settings)
    }
}

/// Lets a device in on a trial that an upstream keeps (bridge §10.1).
struct UpstreamTrialMethod: TrialMethod {
    let trials: UpstreamTrials
    let metrics: AuthenticationMetrics

    func serves(_ attempt: TrialAttempt) -> Bool {
        attempt.caller.catalogue.bridgeWay(requestor: attempt.requestor.id, mvpd: attempt.mvpd.id) != nil
    }

    func begin(_ attempt: TrialAttempt) async throws(Fault) -> SessionRecord {
        guard let way = attempt.caller.catalogue.bridgeWay(requestor: attempt.requestor.id, mvpd: attempt.mvpd.id) else {
            throw Fault.notByUpstream
        }
        let session = try await trials.start(attempt.caller, BridgeDevice(attempt.call), way, genericData: attempt.genericData)
        metrics.freePreviews.increment()
        return session
    }
}

extension Fault {
    /// The fault of a method that was asked for what it does not serve.
    fileprivate static let notByUpstream = Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
}

extension AuthenticationMetrics {
    /// Somebody came back from an upstream's login.
    /// - Parameter reason: Why nobody is signed in; empty: somebody is.
    func countBridgedSignIn(_ part: UpstreamPart, reason: String) {
        var dimensions = UsageDimensions(requestor: part.key.requestor.text, mvpd: part.mvpd.text, device: part.device)
        usage.count(.authnPending, dimensions)
        dimensions.reason = UsageDimensions.short(reason)
        usage.count(reason.isEmpty ? .authnSuccessful : .authnFailed, dimensions)
    }

    /// A login that upstream knew already is this device's, too: a platform's token, or its own sign-in, said whose it is.
    /// - Parameter isPartner: By the sign-in of Apple's framework.
    func countTakenOver(_ part: UpstreamPart, isPartner: Bool) {
        var dimensions = UsageDimensions(requestor: part.key.requestor.text, mvpd: part.mvpd.text, device: part.device)
        dimensions.ssoType = "platform"
        dimensions.externalProvider = isPartner ? "Apple" : ""
        usage.count(.sso, dimensions)
    }
}

/// Lets a device in on a trial that an upstream gives: its profile is there without a login (bridge §10.1).
struct UpstreamTrials: Sendable {
    let caller: UpstreamCaller
    let profiles: UpstreamProfiles
    let lists: UpstreamLists
    let store: any UpstreamStore
    let clock: any WallClock

    /// - Throws: `invalid_request` (no trial, or it is over), `unknown_integration`; `unavailable`, `too_many_requests` as upstream says.
    /// - Parameter genericData: As it was sent; a promotional trial needs it.
    func start(_ viewer: DeviceCaller, _ device: BridgeDevice, _ way: BridgeWay, genericData: String) async throws(Fault) -> SessionRecord {
        guard let entry = way.upstream.client(requestor: way.requestor, platform: viewer.information.platform) else {
            throw Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
        }
        if viewer.catalogue.isListedOnly(requestor: way.requestor, mvpd: way.mvpd) {
            try await lists.requireOffered(way, to: viewer.information, at: device.address, waits: true)
        }
        let client = UpstreamClientAt(way.upstream, entry, of: viewer.device)
        var device = device
        device.temporaryPassIdentity = try UpstreamIdentity.temporaryPass(genericData)
        let found: [BridgedProfile]
        do throws(UpstreamError) {
            found = try await caller.ask(
                .profile(way.serviceProvider, mvpd: way.theirMvpd), by: client, for: device, UpstreamDeadline(way.upstream.totalTimeout)
            ) { answer throws(BridgeFailure) in try BridgedProfile.all(answer) }
        } catch {
            throw Self.fault(error, clock.now())
        }
        let now = clock.now()
        guard let profile = found.first(where: { $0.mvpd == way.theirMvpd && $0.kind == .temporary && $0.end > now }) else {
            throw Fault(.invalidRequest, "The MVPD gives no free preview.")
        }
        let holder = UpstreamProfiles.Holder(
            key: SessionKey(device: viewer.device, requestor: viewer.requestor), claims: viewer.claims, clientID: viewer.client.id,
            device: viewer.information, userAgent: viewer.userAgent, record: nil, mvpd: MvpdID(way.mvpd), upstream: way.upstream,
            serviceProvider: way.serviceProvider, theirMvpd: way.theirMvpd, slot: client.name.text,
            identity: UpstreamIdentity(temporaryPass: device.temporaryPassIdentity))
        let (session, part) = try profiles.session(of: profile, for: holder, now: now)
        // Without a code there is nothing that somebody else could use first.
        guard try await store.start(session, part, of: nil, now: now) else { throw Fault(.internal, "An internal fault occurred.") }
        return session
    }

    private static func fault(_ trouble: UpstreamError, _ now: Timestamp) -> Fault {
        guard let refusal = trouble.refusal else { return trouble.fault(now) }
        switch BridgeMeaning(refusal) {
        case .trial: return FreePreview.usedUp
        case .noTemporaryPassIdentity: return Fault(.invalidRequest, "Required 'generic_data' is not present")
        case .noIntegration: return Fault(.unknownIntegration, "The provider is not available for this channel.")
        default: return refusal.decisionFault.fault
        }
    }
}
