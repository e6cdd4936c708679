internal import Clocks
internal import Contracts
internal import Faults
internal import Logging
internal import Tokens

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
