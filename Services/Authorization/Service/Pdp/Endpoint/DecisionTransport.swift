/// Carries a request to a decision point; tests put their own in its place.
public protocol DecisionTransport: Sendable {
    /// Posts the body once and returns the whole answer.
    /// - Parameters:
    ///   - body: `application/xacml+json`.
    ///   - timeLeft: Of the step's budget; the endpoint's own timeouts may be shorter.
    /// - Throws: `DecisionTransportFailure`.
    func post(_ body: [UInt8], to endpoint: DecisionEndpoint, timeLeft: Duration) async throws(DecisionTransportFailure) -> DecisionTransportAnswer
}
