internal import ContractRuntime
internal import Contracts
internal import Faults
internal import OutboundHttp

/// Access tokens with which an OAuth provider's decision point is asked; authentication gets them from the MVPD (mvpd §3).
struct UpstreamTokens: Sendable {
    let sessions: any Sessions

    /// - Throws: `authorization_denied_by_session_invalidated` when the person did not sign in by OAuth, or has to sign in again; faults of the
    ///   way to the MVPD.
    func bearer(for query: DecisionQuery, context: CallContext) async throws(Fault) -> OutboundRequest.Header {
        guard !query.upstreamSession.isEmpty else {
            throw Fault(
                .authorizationDeniedBySessionInvalidated, "User not authorized", cause: DecisionPointProblem("the sign-in was not by OAuth"))
        }
        do {
            let request = UpstreamTokenRequest(upstreamSessionID: query.upstreamSession)
            let token = try await sessions.getUpstreamToken(request, context: context.child())
            return ("authorization", "Bearer \(token.accessToken)")
        } catch {
            throw .unexpected(error)
        }
    }
}
