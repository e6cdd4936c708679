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
    private struct Held {
        let decidedAt: Timestamp
        var token: Waiting?
    }

    private struct Waiting {
        let serialized: String
        let end: Timestamp
    }

    /// Upstream's decision for a play.
    struct Permit: Sendable {
        let token: AuthzToken
        let media: (serialized: String, end: Timestamp)
    }

    private let sessions: any Sessions
    private let store: any AuthorizationStore
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    let metrics: UpstreamPlayMetrics
    private let held = Mutex(BoundedCache<AuthzTokenKey, Held>(capacity: 65_536))
    private let flights = Mutex<[AuthzTokenKey: Task<Result<AuthzToken, Fault>, Never>]>([:])

    init(
        sessions: any Sessions, store: any AuthorizationStore, catalogue: any CatalogueSource, clock: any WallClock, metrics: UpstreamPlayMetrics
    ) {
        self.sessions = sessions
        self.metrics = metrics
        self.store = store
        self.catalogue = catalogue
        self.clock = clock
    }

    /// True when the last decision is so new that its permit is given again without a question.
    func isFresh(_ session: SessionAtHand, _ key: AuthzTokenKey) throws(Fault) -> Bool {
        guard let upstream = try upstream(of: session) else { return false }
        let now = clock.now()
        return held.withLock { $0[key].map { now < $0.decidedAt + upstream.decisionFresh && now >= $0.decidedAt } ?? false }
    }

    /// A live decision, of which all who ask at the same time get one. Its media token waits.
    /// - Parameter genericData: As it was sent.
    /// - Throws: The denial, after which no permit is left; why upstream could not be asked.
    func decide(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, _ context: CallContext
    ) async throws(Fault) -> AuthzToken {
        let key = session.tokenKey(resource)
        let flight = flights.withLock { underWay in
            if let known = underWay[key] { return known }
            let task = Task { [self] () -> Result<AuthzToken, Fault> in
                defer { flights.withLock { $0[key] = nil } }
                do throws(Fault) {
                    let permit = try await ask(session, resource, genericData: genericData, context)
                    hold(permit, for: session, key)
                    return .success(permit.token)
                } catch {
                    return .failure(error)
                }
            }
            underWay[key] = task
            return task
        }
        return try await flight.value.get()
    }

    /// The media token that waits, or that of another decision: never one token twice.
    /// - Throws: As `decide`.
    func mediaToken(
        _ session: SessionAtHand, _ resource: RequestedResource, _ context: CallContext
    ) async throws(Fault) -> (serialized: String, end: Timestamp) {
        let key = session.tokenKey(resource)
        if let waiting = try claim(session, key) {
            metrics.gaveMediaToken(.held, session.bridge?.upstream)
            return (waiting.serialized, waiting.end)
        }
        let permit = try await ask(session, resource, genericData: "", context)
        let now = clock.now()
        held.withLock { $0[key] = Held(decidedAt: now) }
        metrics.gaveMediaToken(.live, session.bridge?.upstream)
        return permit.media
    }

    private func hold(_ permit: Permit, for session: SessionAtHand, _ key: AuthzTokenKey) {
        let now = clock.now()
        let waits = ((try? upstream(of: session)) ?? nil).map { $0.holdMediaToken > .zero } ?? false
        let token = waits ? Waiting(serialized: permit.media.serialized, end: permit.media.end) : nil
        held.withLock { $0[key] = Held(decidedAt: now, token: token) }
    }

    private func claim(_ session: SessionAtHand, _ key: AuthzTokenKey) throws(Fault) -> Waiting? {
        guard let upstream = try upstream(of: session) else { return nil }
        let now = clock.now()
        return held.withLock { held in
            guard var known = held[key], let token = known.token else { return nil }
            known.token = nil
            held[key] = known
            guard now >= known.decidedAt, now < known.decidedAt + upstream.holdMediaToken else { return nil }
            // Most of its life is for the player.
            let (left, life) = (token.end.milliseconds - now.milliseconds, token.end.milliseconds - known.decidedAt.milliseconds)
            return left > 0 && left * 10 >= life * 7 ? token : nil
        }
    }

    private func upstream(of session: SessionAtHand) throws(Fault) -> BridgeUpstream? {
        guard let bridge = session.bridge else { return nil }
        return try catalogue.current().upstream(bridge.upstream)
    }

    private func ask(
        _ session: SessionAtHand, _ resource: RequestedResource, genericData: String, _ context: CallContext
    ) async throws(Fault) -> Permit {
        let request = AskUpstreamRequest(
            call: session.call, sessionID: session.session.id, resources: [resource.text], genericData: genericData)
        let answer: UpstreamDecisions
        do {
            answer = try await sessions.askUpstream(request, context: context)
        } catch {
            metrics.failed(session.bridge?.upstream)
            throw Fault.unexpected(error)
        }
        guard let decision = answer.decisions.first else {
            metrics.failed(session.bridge?.upstream)
            throw Fault(.upstreamUnavailable, "The upstream service's answer cannot be used.")
        }
        metrics.decided(decision, session.bridge?.upstream)
        let key = session.tokenKey(resource)
        guard decision.isPermitted else {
            held.withLock { $0[key] = nil }
            try await forget(key, session)
            throw decision.fault
        }
        let media = (serialized: decision.mediaToken, end: Timestamp(milliseconds: Int64(clamping: decision.mediaTokenExpiresAtMilliseconds)))
        let told = decision.expiresAtMilliseconds == 0 ? media.end : Timestamp(milliseconds: Int64(clamping: decision.expiresAtMilliseconds))
        let proxy = UpstreamMediaToken(media.serialized).proxyMvpd ?? session.proxyMvpd
        let token = AuthzToken(key: key, mvpd: session.mvpd, proxyMvpd: proxy, expiresAt: min(told, session.expiresAt))
        guard try await store.token(key) != token else { return Permit(token: token, media: media) }
        try await store.save(token)
        return Permit(token: token, media: media)
    }

    /// A permit that upstream took back is as if it had never been.
    private func forget(_ key: AuthzTokenKey, _ session: SessionAtHand) async throws(Fault) {
        guard let known = try await store.token(key), known.expiresAt.milliseconds > 0 else { return }
        try await store.save(AuthzToken(key: key, mvpd: session.mvpd, expiresAt: Timestamp(milliseconds: 0)))
    }
}

extension UpstreamDecision {
    /// The fault of a denial for an app.
    var fault: Fault {
        BridgeRefusal(status: 403, code: code.isEmpty ? "authorization_denied_by_mvpd" : code, action: action, details: details).decisionFault.fault
    }
}

/// The resources, among several, that an upstream would permit (bridge §9.5).
struct UpstreamPreflight: Sendable {
    let sessions: any Sessions

    /// - Returns: A verdict for each resource, in order; what could not be asked about is unanswered.
    /// - Throws: A fault that nobody is signed in any more; `unavailable` where nothing could be asked about.
    func verdicts(_ resources: [RequestedResource], _ session: SessionAtHand, _ context: CallContext) async throws(Fault) -> [ResourceVerdict] {
        let request = AskUpstreamRequest(
            call: session.call, sessionID: session.session.id, resources: resources.map(\.text), isPreauthorization: true)
        let answer: UpstreamDecisions
        do {
            answer = try await sessions.askUpstream(request, context: context)
        } catch {
            throw Fault.unexpected(error)
        }
        let known = Dictionary(texts: answer.decisions.map { ($0.resource, $0) }, uniquingKeysWith: { first, _ in first })
        var verdicts: [ResourceVerdict] = []
        for resource in resources {
            guard let decision = known[OctetText(resource.text)] else {
                verdicts.append(.unanswered(.networkReceivedError))
                continue
            }
            verdicts.append(try Self.verdict(decision))
        }
        return verdicts
    }

    private static func verdict(_ decision: UpstreamDecision) throws(Fault) -> ResourceVerdict {
        if decision.isPermitted { return .permitted }
        let fault = decision.fault
        switch fault.code {
        // The question has one resource, so its error is the call's.
        case .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated: throw fault
        case .networkReceivedError, .networkConnectionTimeout, .maximumExecutionTimeExceeded: return .unanswered(fault.code)
        default: return .denied(Denial(code: fault.code, details: fault.details))
        }
    }
}
