internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults

/// Has upstream asked with the question for the session, instead of in a second call: the conditions under which a decision is needed, as far as they
/// are known before the session is (bridge §9.1).
struct UpstreamVisit: Sendable {
    let resource: String
    /// As it was sent.
    var genericData = ""
    /// True: without `genericData` upstream is not asked at a promotional trial.
    var requiresIdentity = false
    /// Upstream is asked about this session alone; empty: about any.
    var onlySession = ""
    /// Upstream is not asked about this session: what it decided is here.
    var settledSession = ""
    /// Upstream is asked about a session at this MVPD alone; empty: at any.
    var mvpd = ""
    /// The call's own decision, for which others wait; `nil`: nobody does. Whoever made the visit ends it.
    var flight: DecisionFlight?

    func request(_ call: DeviceCall, mvpd: String, identity: String) -> SessionToPlayRequest {
        SessionToPlayRequest(
            session: SessionRequest(call: call, mvpd: mvpd, identity: identity), resource: resource, genericData: genericData,
            requiresIdentity: requiresIdentity, onlySessionID: onlySession, settledSessionID: settledSession, mvpd: self.mvpd)
    }
}

/// The answer of an upstream that came with the session.
struct UpstreamAnswer: Sendable {
    let decisions: Result<UpstreamDecisions, Fault>
    /// Until it was there.
    let time: Duration

    /// - Returns: `nil`: upstream was not asked.
    init?(_ answer: SessionToPlay, after time: Duration) {
        if let fault = answer.fault {
            decisions = .failure(Fault(fault))
        } else if let made = answer.decisions {
            decisions = .success(made)
        } else {
            return nil
        }
        self.time = time
    }
}

extension Fault {
    /// A day: no peer's advice is taken for longer.
    private static let longestWait: UInt64 = 86_400_000

    fileprivate init(_ fault: UpstreamFault) {
        let wait = fault.retryAfterMilliseconds
        self.init(
            fault.code.isEmpty ? .internal : Code(rawValue: fault.code), fault.message.isEmpty ? "An internal fault occurred." : fault.message,
            details: fault.details.isEmpty ? nil : fault.details, isRetryable: fault.isRetryable,
            retryAfter: wait == 0 ? nil : .milliseconds(Int64(min(wait, Self.longestWait))))
    }
}

/// What calls say with the question for their session. `nil`: upstream is not asked with it, but later if need be.
extension DecisionMaker {
    /// Of REST v1's authorize: it is asked unless the last decision is fresh, or denials came too often.
    func visit(_ request: AuthorizeRequest, in catalogue: Catalogue) -> UpstreamVisit? {
        guard let call = request.call, let place = place(call, request.resource, in: catalogue), !isCutOff(call, request.resource) else { return nil }
        var visit = UpstreamVisit(resource: request.resource, genericData: request.genericData, requiresIdentity: true, mvpd: request.mvpd)
        visit.settledSession = plays.freshSession(place.key, place.upstream) ?? ""
        // Who comes while another call asks waits for its decision.
        guard case .opened(let flight) = plays.flights.enter(place.key) else { return nil }
        visit.flight = flight
        return visit
    }

    /// Of a call of v2 about one resource, which wants a media token: it is asked unless a token waits.
    func visit(_ request: DecideRequest, in catalogue: Catalogue) -> UpstreamVisit? {
        guard !request.isPreliminary, request.resources.count == 1, let call = request.call, let resource = request.resources.first,
            let place = place(call, resource, in: catalogue), !isCutOff(call, resource)
        else { return nil }
        var visit = UpstreamVisit(resource: resource, genericData: request.identity, requiresIdentity: true, mvpd: request.mvpd)
        visit.settledSession = plays.waitingSession(place.key, place.upstream) ?? ""
        return visit
    }

    /// Of a call for a media token: it is asked where the device's last session has a permit, and no token waits. Of a session that is not known here
    /// nobody can say before whether it has a permit.
    func visit(_ request: ResourceRequest, in catalogue: Catalogue) async -> UpstreamVisit? {
        guard let call = request.call, let place = place(call, request.resource, in: catalogue), let session = plays.lastSession(place.key),
            plays.waitingSession(place.key, place.upstream) == nil
        else { return nil }
        let key = AuthzTokenKey(session: session, device: call.deviceID, requestor: call.requestor, resource: request.resource)
        let now = clock.now()
        guard let permit = try? await store.token(key, counts: { now < $0.expiresAt }), now < permit.expiresAt, permit.degradationRule == nil
        else { return nil }
        return UpstreamVisit(resource: request.resource, onlySession: session)
    }

    /// - Returns: `nil` where upstream may be asked only once more is known: a stored token names the device, a rule may decide, Media RSS is not
    ///   parsed for strangers.
    private func place(_ call: DeviceCall, _ resource: String, in catalogue: Catalogue) -> (key: PlayKey, upstream: BridgeUpstream)? {
        guard call.storedToken == nil, let requestor = catalogue.requestor(call.requestor), let (upstream, _) = catalogue.upstream(of: requestor),
            resource.utf8.first != UInt8(ascii: "<"), (try? RequestedResource(resource)) != nil
        else { return nil }
        let now = clock.now()
        let hasRule = catalogue.configuration.degradationRules.contains {
            OctetText($0.requestorID) == OctetText(requestor.id) && $0.isActive(at: now)
        }
        return hasRule ? nil : (key: PlayKey(device: call.deviceID, requestor: call.requestor, resource: resource), upstream: upstream)
    }

    private func isCutOff(_ call: DeviceCall, _ resource: String) -> Bool {
        let subject = DenialLimiter.Subject(
            device: call.deviceID, requestor: call.requestor, resource: Hex.encode(SHA256.hash(resource)))
        return denials.blocked(subject, now: clock.now()) != nil
    }
}
