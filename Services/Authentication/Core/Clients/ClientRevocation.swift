internal import Faults

/// Ends a client: it has to register anew (rest-v1 §4.1).
struct ClientRevocation: Sendable {
    let bearers: BearerCheck
    let store: any ClientStore
    let metrics: AuthenticationMetrics

    /// Returns when no call of the client is accepted any more.
    /// - Returns: False when there was no such client.
    func revoke(_ client: ClientID) async throws(Fault) -> Bool {
        let wasKnown = try await store.revoke(client)
        bearers.forgetTokens()
        if wasKnown { metrics.revokedClients.increment() }
        return wasKnown
    }
}
