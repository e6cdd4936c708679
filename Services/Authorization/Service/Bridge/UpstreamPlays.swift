internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Memos
internal import Synchronization

/// Decisions of upstreams, and the media tokens that wait for the app that comes for them (bridge §9).
///
/// Each permit brings one media token, and counts as a play upstream. So an `authorize` keeps its token for the media token call that follows, in
/// memory alone. A copy that knows of none asks again (decision 0074).
final class UpstreamPlays: Sendable {
    /// The state that the last live decision left.
    fileprivate struct Held {
        let session: String
        let decidedAt: Timestamp
        var token: Media?
    }

    /// An upstream's media token.
    struct Media: Sendable {
        /// Octet for octet as it came.
        let serialized: String
        let end: Timestamp
        /// What can be read of it.
        let claims: UpstreamMediaToken
    }

    /// Upstream's decision for a play.
    struct Permit: Sendable {
        let token: AuthzToken
        let media: Media
    }

    let flights = DecisionFlights()
    private let sessions: any Sessions
    private let store: any AuthorizationStore
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    let metrics: UpstreamPlayMetrics
    private let preliminary: PreliminaryPermits
    private let held = Mutex(BoundedCache<PlayKey, Held>(capacity: 65_536))

    init(
        sessions: any Sessions, store: any AuthorizationStore, catalogue: any CatalogueSource, clock: any WallClock, metrics: UpstreamPlayMetrics,
        preliminary: PreliminaryPermits
    ) {
        self.preliminary = preliminary
        self.sessions = sessions
        self.metrics = metrics
        self.store = store
        self.catalogue = catalogue
        self.clock = clock
    }

    // MARK: What is known before the session is

    /// The session that the last decision was about.
    func lastSession(_ key: PlayKey) -> String? { held.withLock { $0[key]?.session } }

    /// The same, where that decision is so new that its permit is given again without a question.
    func freshSession(_ key: PlayKey, _ upstream: BridgeUpstream) -> String? {
        let now = clock.now()
        return held.withLock { held in held[key].flatMap { $0.isFresh(now, upstream) ? $0.session : nil } }
    }

    /// The session whose media token waits.
    func waitingSession(_ key: PlayKey, _ upstream: BridgeUpstream) -> String? {
        let now = clock.now()
        return held.withLock { held in held[key].flatMap { $0.waiting(now, upstream) == nil ? nil : $0.session } }
    }

    /// True when the last decision is so new that its permit is given again without a question.
    func isFresh(_ session: SessionAtHand, _ resource: RequestedResource) throws(Fault) -> Bool {
        guard let upstream = try upstream(of: session) else { return false }
        return freshSession(PlayKey(session, resource), upstream) == session.session.id
    }

    // MARK: Decisions

    /// A live decision, of which all who ask at the same time get one. Its media token waits.
    /// - Parameter genericData: As it was sent.
    /// - Throws: The denial, after which no permit is left; why upstream could not be asked.
    func decide(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, _ context: CallContext
    ) async throws(Fault) -> AuthzToken {
        guard let flight = session.flight else { return try await join(session, resource, genericData: genericData, context) }
        return try await decide(session, resource, genericData: genericData, flight, context)
    }

    private func join(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, _ context: CallContext
    ) async throws(Fault) -> AuthzToken {
        while true {
            switch flights.enter(PlayKey(session, resource)) {
            case .opened(let flight): return try await decide(session, resource, genericData: genericData, flight, context)
            case .joined(let flight):
                // One that came to nothing, or is about another session, is no answer.
                if let decided = await flight.decided, decided.session == session.session.id { return try decided.result.get() }
                if Task.isCancelled { throw Fault(.cancelled, "The call was cancelled.") }
            }
        }
    }

    private func decide(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, _ flight: DecisionFlight, _ context: CallContext
    ) async throws(Fault) -> AuthzToken {
        do throws(Fault) {
            let permit = try await ask(session, resource, genericData: genericData, keepsEnd: true, context)
            hold(permit, for: session, resource)
            flights.end(flight, DecisionFlight.Decided(session: session.session.id, result: .success(permit.token)))
            return permit.token
        } catch {
            // Who waits has not given up with this call.
            let decided = DecisionFlight.Decided(session: session.session.id, result: .failure(error))
            flights.end(flight, error.code == .cancelled ? nil : decided)
            throw error
        }
    }

    /// A live decision with its media token, for a call that wants both: nobody else gets that token.
    /// - Throws: As `decide`.
    func decideAndTake(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, _ context: CallContext
    ) async throws(Fault) -> Permit {
        let permit = try await ask(session, resource, genericData: genericData, keepsEnd: false, context)
        remember(session, resource)
        metrics.gaveMediaToken(.live, session.bridge?.upstream)
        return permit
    }

    /// The media token that waits, or that of another decision: never one token twice.
    /// - Throws: As `decide`.
    func mediaToken(_ session: SessionAtHand, _ resource: RequestedResource, _ context: CallContext) async throws(Fault) -> Media {
        if session.upstream == nil, let waiting = try claim(session, resource) {
            metrics.gaveMediaToken(.held, session.bridge?.upstream)
            return waiting
        }
        return try await decideAndTake(session, resource, genericData: "", context).media
    }

    private func hold(_ permit: Permit, for session: SessionAtHand, _ resource: RequestedResource) {
        let waits = ((try? upstream(of: session)) ?? nil).map { $0.holdMediaToken > .zero } ?? false
        remember(session, resource, waits ? permit.media : nil)
    }

    private func remember(_ session: SessionAtHand, _ resource: RequestedResource, _ token: Media? = nil) {
        let (key, now) = (PlayKey(session, resource), clock.now())
        held.withLock { $0[key] = Held(session: session.session.id, decidedAt: now, token: token) }
    }

    private func claim(_ session: SessionAtHand, _ resource: RequestedResource) throws(Fault) -> Media? {
        guard let upstream = try upstream(of: session) else { return nil }
        let (key, now) = (PlayKey(session, resource), clock.now())
        return held.withLock { held in
            guard var known = held[key], known.session == session.session.id, known.token != nil else { return nil }
            defer {
                known.token = nil
                held[key] = known
            }
            return known.waiting(now, upstream)
        }
    }

    private func upstream(of session: SessionAtHand) throws(Fault) -> BridgeUpstream? {
        guard let bridge = session.bridge else { return nil }
        return try catalogue.current().upstream(bridge.upstream)
    }

    private func ask(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, keepsEnd: Bool, _ context: CallContext
    ) async throws(Fault) -> Permit {
        let answer: UpstreamDecisions
        do throws(Fault) {
            answer = try await self.answer(session, resource, genericData: genericData, context)
        } catch {
            metrics.failed(session.bridge?.upstream)
            throw error
        }
        guard let decision = answer.decisions.first else {
            metrics.failed(session.bridge?.upstream)
            throw Fault(.upstreamUnavailable, "The upstream service's answer cannot be used.")
        }
        metrics.decided(decision, session.bridge?.upstream)
        let key = session.tokenKey(resource)
        guard decision.isPermitted else {
            // What was permitted stays so until upstream decides otherwise: trouble on its way to the MVPD, and doubt about the person, decide nothing.
            guard decision.refusal.isDenial else { throw decision.fault }
            held.withLock { $0[PlayKey(session, resource)] = nil }
            preliminary.forget(session.session.id, resource.text)
            try await forget(key, session)
            throw decision.fault
        }
        let media = Media(
            serialized: decision.mediaToken, end: Timestamp(milliseconds: Int64(clamping: decision.mediaTokenExpiresAtMilliseconds)),
            claims: UpstreamMediaToken(decision.mediaToken))
        let told = decision.expiresAtMilliseconds == 0 ? media.end : Timestamp(milliseconds: Int64(clamping: decision.expiresAtMilliseconds))
        let proxy = media.claims.proxyMvpd ?? session.proxyMvpd
        let token = AuthzToken(key: key, mvpd: session.mvpd, proxyMvpd: proxy, expiresAt: min(told, session.expiresAt))
        try await keep(token, exactly: keepsEnd)
        return Permit(token: token, media: media)
    }

    /// Keeps a permit for calls that need no question. Upstream says another end with each play, and waiting for a write takes longer than all else that
    /// is done here for one. So a play leaves a permit as it is that lasts as long but for a tenth of its life (bridge §9.1).
    /// - Parameter exactly: True where the app is told the end as that of its permit.
    private func keep(_ token: AuthzToken, exactly: Bool) async throws(Fault) {
        if let known = try await store.token(token.key) {
            let gain = token.expiresAt.milliseconds - known.expiresAt.milliseconds
            let spared = exactly ? 0 : max(0, token.expiresAt.milliseconds - clock.now().milliseconds) / 10
            var extended = known
            extended.expiresAt = token.expiresAt
            if extended == token, 0...spared ~= gain { return }
        }
        try await store.save(token)
    }

    /// That which came with the session, else that of a call of its own.
    private func answer(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, _ context: CallContext
    ) async throws(Fault) -> UpstreamDecisions {
        if let upstream = session.upstream { return try upstream.decisions.get() }
        let request = AskUpstreamRequest(
            call: session.call, sessionID: session.session.id, resources: [resource.text], genericData: genericData)
        do {
            return try await sessions.askUpstream(request, context: context)
        } catch {
            throw Fault.unexpected(error)
        }
    }

    /// A permit that upstream took back is as if it had never been.
    private func forget(_ key: AuthzTokenKey, _ session: SessionAtHand) async throws(Fault) {
        guard let known = try await store.token(key), known.expiresAt.milliseconds > 0 else { return }
        try await store.save(AuthzToken(key: key, mvpd: session.mvpd, expiresAt: Timestamp(milliseconds: 0)))
    }
}

extension UpstreamPlays.Held {
    fileprivate func isFresh(_ now: Timestamp, _ upstream: BridgeUpstream) -> Bool { now < decidedAt + upstream.decisionFresh && now >= decidedAt }

    /// The media token, where most of its life is left for the player.
    fileprivate func waiting(_ now: Timestamp, _ upstream: BridgeUpstream) -> UpstreamPlays.Media? {
        guard let token, now >= decidedAt, now < decidedAt + upstream.holdMediaToken else { return nil }
        let (left, life) = (token.end.milliseconds - now.milliseconds, token.end.milliseconds - decidedAt.milliseconds)
        return left > 0 && left * 10 >= life * 7 ? token : nil
    }
}

extension BridgeRefusal {
    /// True where it decides about the resource, so that an earlier permit does not hold any more. It is a no of the MVPD's or of a rule, or the trial is
    /// over (bridge §9.1, §12.1).
    var isDenial: Bool {
        switch BridgeMeaning(self) {
        case .decision(let code): ![.networkReceivedError, .networkConnectionTimeout, .maximumExecutionTimeExceeded].contains(code)
        case .trial: true
        case .unknown: decisionFault.fault.code == .authorizationDeniedByMvpd
        default: false
        }
    }
}

extension UpstreamDecision {
    /// The fault of a denial for an app.
    var fault: Fault { refusal.decisionFault.fault }

    /// Upstream's words.
    var refusal: BridgeRefusal {
        BridgeRefusal(status: 403, code: code.isEmpty ? "authorization_denied_by_mvpd" : code, action: action, details: details)
    }
}
