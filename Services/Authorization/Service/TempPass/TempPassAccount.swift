internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Takes plays off the trial of a TempPass, which authentication keeps (rest-v1 §6.2).
struct TempPassAccount: Sendable {
    private static let patience: Duration = .seconds(2)

    let sessions: any Sessions

    /// Counts the play; a repeat of the same resource is free.
    /// - Returns: When the trial ends.
    /// - Throws: The refusal of a trial that is used up, and faults of the way to authentication.
    func spend(
        _ session: SessionAtHand, resource: RequestedResource, genericData: String, context: CallContext
    ) async throws(Fault) -> Timestamp {
        var inner = context.child(within: Self.patience)
        inner.idempotencyKey = context.idempotencyKey
        let request = SpendTempPassRequest(
            sessionID: session.standsIn ? "" : session.session.id, deviceID: session.call.deviceID, requestor: session.requestor,
            resource: resource.text, genericData: genericData, mvpd: session.standsIn ? session.mvpd : "")
        do {
            let balance = try await sessions.spendTempPass(request, context: inner)
            return Timestamp(milliseconds: Int64(clamping: balance.expiresAtMilliseconds))
        } catch {
            throw .unexpected(error)
        }
    }
}
