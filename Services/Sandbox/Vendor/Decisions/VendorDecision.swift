internal import Clocks

/// A decision about one resource, before it is written.
struct UpstreamDecision: Sendable {
    enum Source: String, Sendable, Codable {
        case mvpd, degradation, temppass
    }

    let resource: String
    let source: Source
    /// nil: a permit.
    var problem: UpstreamProblem?
    var permit: UpstreamPermits.Permit?
    /// For the media token of a permit.
    var sessionGUID = ""

    static func deny(_ resource: String, _ source: Source, _ problem: UpstreamProblem) -> UpstreamDecision {
        UpstreamDecision(resource: resource, source: source, problem: problem)
    }

    static func deny(_ resource: String, _ code: UpstreamErrorCode, _ source: Source = .mvpd) -> UpstreamDecision {
        .deny(resource, source, UpstreamProblem(code))
    }
}

/// The body of an answer (rest-v2 §2.9).
struct DecisionsBody: Sendable, Encodable {
    struct Decision: Sendable, Encodable {
        let resource: String
        let serviceProvider: String
        let mvpd: String
        let authorized: Bool
        let source: UpstreamDecision.Source
        var token: UpstreamMediaTokens.Token?
        let notBefore: Int64?
        let notAfter: Int64?
        let error: UpstreamProblem?

        init(_ decision: UpstreamDecision, _ question: DecisionQuestion) {
            resource = decision.resource
            serviceProvider = question.serviceProvider
            mvpd = question.mvpd.id
            authorized = decision.problem == nil
            source = decision.source
            let permit = question.isPreauthorization ? nil : decision.permit
            notBefore = permit?.start.milliseconds
            notAfter = permit?.end.milliseconds
            error = decision.problem
        }
    }

    let decisions: [Decision]
}
