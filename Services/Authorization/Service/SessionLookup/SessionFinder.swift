internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import Synchronization
internal import Tokens

/// Asks authentication for the session, on every call: a logout bites at once.
struct SessionFinder: Sendable {
    /// Longest wait for authentication.
    private static let patience: Duration = .seconds(2)

    let sessions: any Sessions
    let clock: any WallClock
    private let visits = VisitAbsence()

    init(sessions: any Sessions, clock: any WallClock) { (self.sessions, self.clock) = (sessions, clock) }

    /// - Parameters:
    ///   - mvpd: For a call of v2, which is about one.
    ///   - identity: A person's on trial there, as it was sent.
    ///   - visit: Has upstream asked about a play of the session, under its conditions; `nil`: the session alone is wanted.
    /// - Returns: The session, or the fault that says there is none: other checks come before it (rest-v1 §2.8).
    /// - Throws: Faults of the bearer, the requestor, the device, and of the way to authentication.
    func find(
        _ call: DeviceCall?, mvpd: String = "", identity: String = "", visit: UpstreamVisit? = nil, context: CallContext
    ) async throws(Fault) -> Result<SessionAtHand, Fault> {
        let call = call ?? DeviceCall()
        if let visit, let found = try await find(call, visit.request(call, mvpd: mvpd, identity: identity), visit.flight, context) { return found }
        do {
            let request = SessionRequest(call: call, mvpd: mvpd, identity: identity)
            let subject = try await sessions.findSession(request, context: context.child(within: Self.patience))
            var session = try Self.session(subject, call: call)
            session.flight = visit?.flight
            return .success(session)
        } catch {
            return .failure(try Self.absence(error))
        }
    }

    /// The session, and what upstream decided about it.
    /// - Returns: `nil`: authentication does not offer that.
    private func find(
        _ call: DeviceCall, _ request: SessionToPlayRequest, _ flight: DecisionFlight?, _ context: CallContext
    ) async throws(Fault) -> Result<SessionAtHand, Fault>? {
        guard !visits.isAbsent(clock.now()) else { return nil }
        let start = ContinuousClock.now
        do {
            let answer = try await sessions.findSessionToPlay(request, context: context.child())
            var session = try Self.session(answer.subject ?? SessionSubject(), call: call)
            session.flight = flight
            if session.isBridged { session.upstream = UpstreamAnswer(answer, after: start.duration(to: .now)) }
            return .success(session)
        } catch let fault as Fault where fault.code == .unimplemented {
            visits.begin(clock.now())
            return nil
        } catch {
            return .failure(try Self.absence(error))
        }
    }

    /// The same for the device of a registration code; a dead code is as good as a missing session (rest-v1 §3.17).
    func findByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws(Fault) -> Result<SessionAtHand, Fault> {
        do {
            let lookup = SessionByCodeRequest(
                accessToken: request.accessToken, requestor: request.requestor, code: request.code, signedRequest: request.signedRequest)
            let subject = try await sessions.findSessionByCode(lookup, context: context.child(within: Self.patience))
            let device = subject.device ?? DeviceInformation()
            // The person in front of the login page may be elsewhere; the device's own address is what MVPDs are told.
            let address = device.connectionIP.isEmpty ? request.clientAddress : device.connectionIP
            let call = DeviceCall(
                accessToken: request.accessToken, requestor: request.requestor, deviceID: subject.deviceID, device: device, clientAddress: address,
                userAgent: device.userAgent, signedRequest: request.signedRequest)
            return .success(try Self.session(subject, call: call))
        } catch {
            return .failure(try Self.absence(error))
        }
    }

    private static func session(_ subject: SessionSubject, call: DeviceCall) throws(Fault) -> SessionAtHand {
        guard let session = subject.session, !session.id.isEmpty, session.requestor == call.requestor else {
            throw Fault(.internal, "An internal fault occurred.", cause: DecisionPointError("authentication answered without a session"))
        }
        var call = call
        var stored: SessionAtHand.Stored?
        if call.storedToken != nil {
            // The token names the device; what it is made of the call may not say.
            call.deviceID = subject.deviceID
            if call.device == nil { call.device = subject.device }
            stored = SessionAtHand.Stored(sessionIndex: subject.sessionIndex, fingerprint: subject.deviceFingerprint)
        }
        return SessionAtHand(
            call: call, session: session, upstreamUserID: subject.upstreamUserID, attributes: subject.attributes,
            upstreamSessionID: subject.upstreamSessionID, application: subject.device?.registeredApplication ?? "", standsIn: subject.standsIn,
            trial: subject.trial, bridge: subject.bridge, stored: stored)
    }

    /// - Returns: The fault that says that there is no session.
    /// - Throws: Every other one.
    private static func absence(_ error: any Error) throws(Fault) -> Fault {
        let fault = Fault.unexpected(error)
        switch fault.code {
        // The service that faces the caller tells a wrong code from one through which nobody has signed in yet. It tells the caller the same of both.
        case .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated, .invalidRegistrationCode,
            .registrationCodeSpent:
            return fault
        default: throw fault
        }
    }
}

/// An authentication service, or one of its copies, that finds sessions and asks upstreams in two calls alone.
private final class VisitAbsence: Sendable {
    /// So long nobody tries again: copies are replaced one after the other.
    private static let span: Duration = .seconds(60)

    private let begun = Mutex<Timestamp?>(nil)

    func isAbsent(_ now: Timestamp) -> Bool {
        begun.withLock { $0.map { now >= $0 && now < $0 + Self.span } ?? false }
    }

    func begin(_ now: Timestamp) { begun.withLock { $0 = now } }
}

/// A signed-in device: whom it is, and what it asked for.
struct SessionAtHand: Sendable {
    let call: DeviceCall
    let session: Session
    let upstreamUserID: String
    var attributes: [UserAttribute] = []
    /// The key of the access token at the MVPD; empty: the person did not sign in by OAuth.
    var upstreamSessionID = ""
    /// The registered application that the session is of; empty: unknown.
    var application = ""

    /// True: there is no session, and this stands for one at a TempPass or while a degradation rule permits something (rest-v2 §5).
    var standsIn = false
    /// At a TempPass without a session.
    var trial: TrialState?

    /// The upstream's part of a session that an upstream decides about; `nil`: our MVPDs do.
    var bridge: BridgedSession?

    /// Upstream's answer about the play that the call is for, where it came with the session.
    var upstream: UpstreamAnswer?
    /// Where others wait for this call's decision.
    var flight: DecisionFlight?

    /// The content of a stored token; `nil` for a call without one.
    var stored: Stored?

    struct Stored: Sendable {
        let sessionIndex: String
        let fingerprint: String
    }

    var requestor: String { session.requestor }
    var mvpd: String { session.mvpd }
    var proxyMvpd: String? { session.proxyMvpd.isEmpty ? nil : session.proxyMvpd }
    var expiresAt: Timestamp { Timestamp(milliseconds: Int64(clamping: session.expiresAtMilliseconds)) }

    var platform: Platform? { call.device?.platform }
    var isBridged: Bool { bridge != nil }
    var isTempPass: Bool { session.kind == .tempPass }

    /// - Throws: `authentication_session_expired` for a session that a degradation rule made: without the rule there is nobody whom an MVPD
    ///   could be asked about (rest-v1 §6.1).
    func requireIdentity() throws(Fault) {
        if session.kind == .degraded { throw Fault(.authenticationSessionExpired, "Authentication token expired") }
    }

    func tokenKey(_ resource: RequestedResource) -> AuthzTokenKey {
        AuthzTokenKey(session: session.id, device: call.deviceID, requestor: requestor, resource: resource.text)
    }
}

extension SessionAtHand {
    /// The source of the decision where no rule decides.
    func decider(_ mvpd: Mvpd) -> DecisionSource {
        if isTempPass { return .tempPass }
        if isBridged { return .mvpd }
        return DecisionPoint(mvpd).record.protocol == .none ? .dummy : .mvpd
    }
}

/// Permits as apps of the vendor's SDKs keep them: tokens that they store and turn into media tokens (clients §3).
struct StoredPermits: Sendable {
    let keys: SigningKeys
    private let issuer: StoredTokenIssuer
    private let verifier: StoredTokenVerifier
    private let clock: any WallClock
    private let logger: Logger
    private let metrics: AuthorizationMetrics

    init(keys: SigningKeys, clock: any WallClock, logger: Logger, metrics: AuthorizationMetrics) {
        self.keys = keys
        issuer = StoredTokenIssuer(keys: keys)
        verifier = StoredTokenVerifier(.authorization, keys: keys)
        self.clock = clock
        self.logger = logger
        self.metrics = metrics
    }

    /// To be called when a key may have gone.
    func keysChanged() { verifier.forget() }

    /// - Throws: `invalid_request` for a call that brought no stored token: a permit's token says of the session what that one does.
    func token(_ permit: AuthzToken, of session: SessionAtHand, _ resource: RequestedResource) throws(Fault) -> String {
        guard let stored = session.stored else { throw Fault(.invalidRequest, "Only a call with a stored token gets one.") }
        return try issuer.issue(
            StoredTokenClaims(
                guid: session.session.userID, requestor: session.requestor, mvpd: session.mvpd, fingerprint: stored.fingerprint,
                sessionIndex: stored.sessionIndex, expiresAt: Timestamp(seconds: permit.expiresAt.seconds), resource: resource.text))
    }

    /// The request that a permit's token stands for: its resource, and the session that it names.
    /// - Throws: `invalid_request` for a text that can be no such token; `authentication_session_missing` for one that does not count here and now.
    func opened(_ request: ResourceRequest) throws(Fault) -> ResourceRequest {
        let token = try verified(request.authorizationToken)
        var call = request.call ?? DeviceCall()
        let mvpd = call.storedToken?.mvpd ?? ""
        guard clock.now() < token.expiresAt, OctetText(token.requestor) == OctetText(call.requestor),
            mvpd.isEmpty || OctetText(mvpd) == OctetText(token.mvpd), let resource = token.resource
        else { throw Self.over }
        call.storedToken = StoredToken(mvpd: token.mvpd, sessionIndex: token.sessionIndex)
        return ResourceRequest(call: call, resource: resource)
    }

    private func verified(_ text: String) throws(Fault) -> StoredTokenClaims {
        do throws(StoredTokenRejection) {
            return try verifier.verify(text)
        } catch {
            switch error {
            case .malformed: throw Fault(.invalidRequest, "What was sent is no authorization token.")
            case .foreign:
                metrics.foreignToken()
                logger.info("foreign_token")
                throw Self.over
            }
        }
    }

    private static let over = Fault(.authenticationSessionMissing, "User not authenticated")
}
