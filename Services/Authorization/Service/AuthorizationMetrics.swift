internal import CoreMetrics

/// What is counted (labels are bounded: no resource, no device).
struct AuthorizationMetrics: Sendable {
    /// Where a decision came from.
    enum Source: String, Sendable {
        case cache, mvpd, dummy, degradation, cutOff = "cut_off", tempPass = "temp_pass"
    }

    private let decisionPointSeconds = Timer(label: "boxoffice_authorization_decision_point_seconds")
    private let mediaTokens = Counter(label: "boxoffice_authorization_media_tokens_total")

    private let foreignTokens = Counter(label: "boxoffice_authorization_foreign_tokens_total")

    func decided(_ result: String, source: Source) {
        Counter(label: "boxoffice_authorization_decisions_total", dimensions: [("result", result), ("source", source.rawValue)]).increment()
    }

    func decisionPointAnswered(after span: Duration) {
        decisionPointSeconds.recordNanoseconds(span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000)
    }

    func preauthorized(isPartial: Bool) {
        let result = isPartial ? "partial" : "full"
        Counter(label: "boxoffice_authorization_preauthorizations_total", dimensions: [("result", result)]).increment()
    }

    /// Another house's permit, or a changed one.
    func foreignToken() { foreignTokens.increment() }

    func issuedMediaToken() { mediaTokens.increment() }
}
