internal import Contracts
internal import CoreMetrics
internal import Faults
internal import UsageCounting

/// The metrics of decisions that upstreams make, and of the media tokens that they send (bridge §14.1).
struct UpstreamPlayMetrics: Sendable {
    /// Who made a decision, in upstream's words. Words that are not known here are `other`; of a failure nobody's word is known.
    private static let sources: Set<String> = ["mvpd", "degradation", "temppass", "dummy"]
    private static let none = "none"
    private static let other = "other"

    enum Origin: String, CaseIterable, Sendable {
        /// It waited since the authorization.
        case held
        /// Upstream was asked for it.
        case live
    }

    private let series: UpstreamSeries

    init(factory: any MetricsFactory = MetricsSystem.factory) { series = UpstreamSeries(factory: factory) }

    /// Upstream was asked about a play.
    func decided(_ decision: UpstreamDecision, _ upstream: String?) {
        let source = decision.source.isEmpty ? Self.none : Self.sources.contains(decision.source) ? decision.source : Self.other
        count(decision.isPermitted ? "permit" : "deny", source, upstream)
    }

    /// Upstream was asked, and there is no decision.
    func failed(_ upstream: String?) { count("error", Self.none, upstream) }

    private func count(_ outcome: String, _ source: String, _ upstream: String?) {
        guard let upstream else { return }
        series.count("boxoffice_authorization_bridge_decisions_total", upstream, ["outcome": outcome, "source": source])
    }

    func gaveMediaToken(_ origin: Origin, _ upstream: String?) {
        guard let upstream else { return }
        series.count("boxoffice_authorization_bridge_media_tokens_total", upstream, ["origin": origin.rawValue])
    }

    /// A permit stood in for a decision, as upstream could not be asked.
    func answeredStale(_ upstream: String?) {
        guard let upstream else { return }
        series.count("boxoffice_authorization_bridge_stale_answers_total", upstream, ["kind": "permit"])
    }
}
