internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging

/// Passes on the parental limits that an MVPD sent with a permit (mvpd §4.2), so that user metadata shows the new ones (rest-v1 §3.19).
///
/// A decision never fails for it and waits for it no longer than `patience`; what is not passed on now comes with a later permit.
struct RatingRefresh: Sendable {
    static let patience: Duration = .milliseconds(500)

    let sessions: any Sessions
    let logger: Logger
    let metrics: AuthorizationMetrics

    func pass(_ ratings: [MvpdDecision.Rating], of session: SessionAtHand, context: CallContext) async {
        let news = ratings.filter { rating in
            session.attributes.first { $0.key == rating.attribute }?.values != [rating.value]
        }
        guard !news.isEmpty else { return }
        let request = UpdateAttributesRequest(
            sessionID: session.session.id, deviceID: session.call.deviceID, requestor: session.requestor,
            attributes: news.map { UserAttribute(key: $0.attribute, values: [$0.value]) })
        do {
            _ = try await sessions.updateAttributes(request, context: context.child(within: Self.patience))
        } catch {
            metrics.keptOldRatings()
            var fields = AuthorizationService.fields(session, context)
            fields["code"] = "\(Fault.unexpected(error).code)"
            logger.warning("authz.ratings_not_refreshed", metadata: fields)
        }
    }
}
