internal import Clocks

/// The body of an authentication session (rest-v2 §2.2, §2.3, §2.12).
struct SessionAnswer: Sendable, Encodable {
    struct AuthenticationRequest: Sendable, Encodable {
        let type: String
        let request: String
        let attributesNames: [String]
    }

    let actionName: String
    let actionType: String
    let reasonType: String
    var missingParameters: [String]?
    var url: String?
    var code: String?
    let sessionId: String
    let serviceProvider: String
    var mvpd: String?
    /// Milliseconds as digits (rest-v2 D2).
    var notBefore: String?
    var notAfter: String?
    var authenticationRequest: AuthenticationRequest?

    /// Nothing needs to be done before a decision.
    static func authorize(
        _ reason: String, mvpd: String, of serviceProvider: String, prefix: String, sessionID: String, code: String? = nil
    ) -> SessionAnswer {
        SessionAnswer(
            actionName: "authorize", actionType: "direct", reasonType: reason,
            url: "\(prefix)/api/v2/\(serviceProvider)/decisions/authorize/\(mvpd)", code: code, sessionId: sessionID,
            serviceProvider: serviceProvider, mvpd: mvpd)
    }

    /// A login can begin, or parameters are missing for it.
    /// - Parameters:
    ///   - incomplete: The action where parameters are missing: `resume`, `retry`.
    ///   - reason: Why the platform does not sign in, where it was asked to.
    init(_ session: UpstreamSession, incomplete: String, reason: String = "none", _ behaviour: UpstreamBehaviour) {
        let missing = session.missing(behaviour)
        let path = missing.isEmpty ? "authenticate/\(session.serviceProvider)/\(session.code)" : "\(session.serviceProvider)/sessions/\(session.code)"
        actionName = missing.isEmpty ? "authenticate" : incomplete
        actionType = missing.isEmpty ? "interactive" : "direct"
        reasonType = reason
        missingParameters = missing.isEmpty ? nil : missing
        url = "\(behaviour.sessionURLPrefix)/api/v2/\(path)"
        code = session.code
        sessionId = session.id
        serviceProvider = session.serviceProvider
        mvpd = session.mvpd
        notBefore = String(session.notBefore.milliseconds)
        notAfter = String(session.notAfter.milliseconds)
    }

    init(
        actionName: String, actionType: String, reasonType: String, url: String?, code: String? = nil, sessionId: String, serviceProvider: String,
        mvpd: String?, authenticationRequest: AuthenticationRequest? = nil
    ) {
        self.actionName = actionName
        self.actionType = actionType
        self.reasonType = reasonType
        self.url = url
        self.code = code
        self.sessionId = sessionId
        self.serviceProvider = serviceProvider
        self.mvpd = mvpd
        self.authenticationRequest = authenticationRequest
    }
}
