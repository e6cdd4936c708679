/// Carries requests to servers of other organisations; tests put their own in its place.
public protocol OutboundTransport: Sendable {
    /// Sends the request once and returns the whole answer, whatever its status.
    /// - Parameter timeLeft: The time left for the whole step; the route's own timeouts may be shorter.
    /// - Throws: `OutboundFailure`.
    func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer
}
