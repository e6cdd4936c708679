internal import ContractRuntime
internal import Contracts
internal import Faults

/// Asks authentication for the session, on every call: a logout bites at once.
struct SessionFinder: Sendable {
    /// Longest wait for authentication.
    private static let patience: Duration = .seconds(2)

    let sessions: any Sessions

    /// - Returns: The session, or the fault that says there is none: other checks come before it (rest-v1 §2.8).
    /// - Throws: Faults of the bearer, the requestor, the device, and of the way to authentication.
    func find(_ call: DeviceCall?, context: CallContext) async throws(Fault) -> Result<SessionAtHand, Fault> {
        let call = call ?? DeviceCall()
        do {
            let subject = try await sessions.findSession(SessionRequest(call: call), context: context.child(within: Self.patience))
            guard let session = subject.session, !session.id.isEmpty, session.requestor == call.requestor else {
                throw Fault(.internal, "An internal fault occurred.", cause: DecisionPointProblem("authentication answered without a session"))
            }
            return .success(SessionAtHand(call: call, session: session, upstreamUserID: subject.upstreamUserID))
        } catch {
            let fault = Fault.unexpected(error)
            guard [.authenticationSessionMissing, .authenticationSessionExpired].contains(fault.code) else { throw fault }
            return .failure(fault)
        }
    }
}
