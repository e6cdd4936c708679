/// Carries a question to a decision point; tests put their own in its place.
public protocol DecisionTransport: Sendable {
    /// Sends the message once and returns the whole answer.
    /// - Parameters:
    ///   - timeLeft: Of the step's budget; the endpoint's own timeouts may be shorter.
    /// - Throws: `DecisionTransportFailure`.
    func send(
        _ message: DecisionMessage, to endpoint: DecisionEndpoint, timeLeft: Duration
    ) async throws(DecisionTransportFailure) -> DecisionTransportAnswer
}
