internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers

/// Signs devices in from logins elsewhere, and out again (apple §1.4).
struct AutomaticSessions: Sendable {
    /// Something changed between reading and writing each time.
    private static let attempts = 8

    let bearers: BearerCheck
    let catalogue: any CatalogueSource
    let store: any LoginStore & UpstreamTokenStore
    let seal: TokenSeal
    let metadata: UserMetadataAnswer
    let clock: any WallClock
    let random: any RandomSource
    let metrics: AuthenticationMetrics

    /// - Throws: As `BearerCheck.device`; `subscription_required` when no login serves.
    func start(_ request: StartAutomaticSessionRequest) async throws(Fault) -> AutomaticSession {
        let caller = try await bearers.device(request.call)
        let session = try await session(for: caller, from: Set(request.logins.map(Subscriber.init)))
        return AutomaticSession(
            session: session.contract(in: caller.catalogue), metadata: try await metadata.streamingMetadata(of: session, in: caller.catalogue),
            caller: IdentifiedCaller(caller))
    }

    private func session(for caller: DeviceCaller, from subscribers: Set<Subscriber>) async throws(Fault) -> SessionRecord {
        let key = SessionKey(device: caller.device, requestor: caller.requestor)
        for attempt in 0..<Self.attempts {
            let now = clock.now()
            // What memory tells is mostly enough: `start` looks at the device and the login once more. What it does not tell, the store may.
            let remembered = attempt == 0 ? try await store.rememberedLogins(of: subscribers, besides: key, now: now) : nil
            let (own, logins) = if let remembered { remembered } else { try await store.logins(of: subscribers, besides: key, now: now) }
            let plan = AutomaticSessionPlan(
                own: own, logins: logins, of: subscribers, for: caller, id: SessionID(random.uuid(madeAt: now)), now: now)
            switch plan {
            case .keep(let session):
                metrics.keptSessions.increment()
                return session
            case .start(let session, let login):
                let made = MadeSession(session: session, login: login.id, replaced: own.first?.id, tokens: try await tokens(for: session, of: login))
                guard try await store.start(made, now: now) else { continue }
                metrics.startedSessions.increment()
                return session
            case .refuse where remembered != nil: continue
            case .refuse:
                metrics.refusedSessions.increment()
                throw Fault(.subscriptionRequired, "No TV provider's login of the account is valid here.")
            }
        }
        throw Fault(.unavailable, "The device's session keeps changing.", retryAfter: .seconds(1))
    }

    private func tokens(for session: SessionRecord, of login: SessionRecord) async throws(Fault) -> UpstreamTokenRecord? {
        guard let upstream = login.origin.upstream else { return nil }
        return try await store.upstreamTokens(of: upstream)?.copy(for: session, seal: seal)
    }

    /// Those who could sign in a device that nothing is known of.
    /// - Throws: `invalid_requestor`.
    func liveLogins(_ request: FindLiveLoginsRequest) async throws(Fault) -> LiveLogins {
        let catalogue = try catalogue.current()
        let requestor = RequestorID(try catalogue.requireRequestor(request.requestor).id)
        let now = clock.now()
        let logins = try await store.logins(of: Set(request.logins.map(Subscriber.init)), at: requestor, now: now)
        let live = Set(logins.compactMap { LoginOffer($0, in: catalogue, platform: nil, now: now)?.login.subscriber })
        return LiveLogins(logins: request.logins.filter { live.contains(Subscriber($0)) })
    }

    /// - Returns: How many ended that had not expired.
    func end(_ request: EndAutomaticSessionsRequest) async throws(Fault) -> UInt32 {
        guard !request.sessionIDs.isEmpty else { return 0 }
        let ended = try await store.endAutomatic(request.sessionIDs.map(SessionID.init), now: clock.now())
        metrics.endedSessions.increment(by: ended)
        return UInt32(clamping: ended)
    }
}

extension AutomaticSessions: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(LoginsMethods.startAutomaticSession) { request, _ in try await start(request) }
        calls.unary(LoginsMethods.findLiveLogins) { request, _ in try await liveLogins(request) }
        calls.unary(LoginsMethods.endAutomaticSessions) { request, _ in EndAutomaticSessionsResponse(ended: try await end(request)) }
    }
}
