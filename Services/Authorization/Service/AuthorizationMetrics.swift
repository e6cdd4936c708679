internal import CoreMetrics
internal import Memos
internal import UsageCounting

/// What is counted (labels are bounded: no resource, no device).
struct AuthorizationMetrics: Sendable {
    /// Where a decision came from.
    enum Source: String, Sendable {
        case cache, mvpd, dummy, degradation, cutOff = "cut_off", tempPass = "temp_pass"
    }

    /// For reports of usage.
    var usage = UsageCounter()
    /// By MVPD.
    var mvpds: MvpdCounter?

    private let decisionPointSeconds = Timer(label: "boxoffice_authorization_decision_point_seconds")
    private let mediaTokens = Counter(label: "boxoffice_authorization_media_tokens_total")

    private struct Decision: Hashable {
        let result: String
        let source: Source
    }

    /// Found by their labels once: that takes longer than a decision from the cache.
    private let decisions = Memo<Decision, Counter>(capacity: 256)
    private let partialPreauthorizations = preauthorizations("partial")
    private let fullPreauthorizations = preauthorizations("full")
    private let foreignTokens = Counter(label: "boxoffice_authorization_foreign_tokens_total")

    func decided(_ result: String, source: Source) {
        decisions.value(Decision(result: result, source: source)) {
            Counter(label: "boxoffice_authorization_decisions_total", dimensions: [("result", result), ("source", source.rawValue)])
        }.increment()
    }

    /// The MVPD was asked.
    /// - Parameter result: `permit`, `deny`, or `error`: there was no usable answer.
    func decided(_ result: String, by question: DecisionMaker.Question) {
        decided(result, source: .mvpd)
        let verdict: MvpdCounter.Result = result == "error" ? .bad : .good
        if let bridge = question.session.bridge {
            mvpds?.count(verdict, upstream: bridge.upstream)
        } else {
            mvpds?.count(verdict, mvpd: question.integration.mvpd.id)
        }
    }

    func decisionPointAnswered(after span: Duration) {
        decisionPointSeconds.recordNanoseconds(span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000)
    }

    func preauthorized(isPartial: Bool) {
        (isPartial ? partialPreauthorizations : fullPreauthorizations).increment()
    }

    private static func preauthorizations(_ result: String) -> Counter {
        Counter(label: "boxoffice_authorization_preauthorizations_total", dimensions: [("result", result)])
    }

    /// Another house's permit, or a changed one.
    func foreignToken() { foreignTokens.increment() }

    func issuedMediaToken() { mediaTokens.increment() }
}
