internal import ContractRuntime
internal import Contracts
internal import Faults

/// Tells `authentication` which authn tokens are over.
struct SessionCourier: OutboxCourier {
    let logins: any Logins

    func deliver(_ item: OutboxItem) async -> DeliveryOutcome {
        do {
            let context = CallContext(deadline: .now.advanced(by: .seconds(10)), idempotencyKey: "outbox-\(item.id)")
            _ = try await logins.endAutomaticSessions(EndAutomaticSessionsRequest(sessionIDs: item.letter.ids), context: context)
            return .accepted
        } catch {
            // To end what has ended changes nothing, so that it does not matter whether the try had its effect.
            return .busy(status: 0, retryAfter: (error as? Fault)?.retryAfter)
        }
    }
}
