internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults

/// A signed-in device: whom it is, and what it asked for.
struct SessionAtHand: Sendable {
    let call: DeviceCall
    let session: Session
    let upstreamUserID: String
    var attributes: [UserAttribute] = []
    /// What an access token at the MVPD is found by; empty: the person did not sign in by OAuth.
    var upstreamSessionID = ""
    /// The registered application that the session is of; empty: unknown.
    var application = ""

    /// True: there is no session, and this stands for one at a TempPass or while a degradation rule permits something (rest-v2 §5).
    var standsIn = false
    /// At a TempPass without a session.
    var trial: TrialState?

    /// Of a session that an upstream decides about; `nil`: our MVPDs do.
    var bridge: BridgedSession?

    /// What a stored token says; `nil` for a call without one.
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
    /// Who decides where no rule does.
    func decider(_ mvpd: Mvpd) -> DecisionSource {
        if isTempPass { return .tempPass }
        if isBridged { return .mvpd }
        return DecisionPoint(mvpd).record.protocol == .none ? .dummy : .mvpd
    }
}
