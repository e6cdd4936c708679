internal import AuthenticationCore
internal import ContractRuntime
internal import Contracts
internal import Logging
internal import SamlProfile

/// Tells how logouts at MVPDs went. Reasons only, never a value out of a message.
struct LogoutLog: Sendable {
    let logger: Logger
    let metrics: AuthenticationMetrics

    func rejected(_ rejection: SamlRejection, mvpd: MvpdID? = nil, requestor: RequestorID? = nil, trace: TraceContext) -> LogoutStep {
        var metadata: Logger.Metadata = ["reason": "\(rejection.reason.rawValue)", "explanation": "\(rejection.explanation)"]
        metadata["mvpd"] = mvpd.map { "\($0)" }
        metadata["requestor"] = requestor.map { "\($0)" }
        logger.warning("saml_logout_rejected", metadata: metadata.merging(["trace_id": "\(trace.traceID)"]) { $1 })
        metrics.logoutEnded("rejected", reason: rejection.reason.rawValue)
        return LogoutStep(result: .rejected, traceID: trace.traceID)
    }

    /// The session ended here, and not at the MVPD.
    func skipped(_ session: SessionRecord) {
        logger.notice(
            "mvpd_logout_skipped",
            metadata: [
                "mvpd": "\(session.mvpd)", "requestor": "\(session.key.requestor)",
                "explanation": "The MVPD sent no NameID at the sign-in (saml.guidAttributeName), and a LogoutRequest needs it.",
            ])
        metrics.logoutEnded("skipped", reason: "no_name_id")
    }

    func answered(_ answer: LogoutAnswer, mvpd: MvpdID, trace: TraceContext) {
        let metadata: Logger.Metadata = ["mvpd": "\(mvpd)", "trace_id": "\(trace.traceID)"]
        switch answer {
        case .complete: metrics.logoutEnded("complete")
        case .partial: metrics.logoutEnded("partial")
        case .failed(let codes):
            logger.error("saml_logout_failed", metadata: metadata.merging(["status": "\(codes.joined(separator: "/"))"]) { $1 })
            metrics.logoutEnded("failed", reason: codes.last ?? "")
        }
    }

    func obeyed(_ count: Int, mvpds: [MvpdID], trace: TraceContext) {
        logger.info(
            "mvpd_logged_out",
            metadata: [
                "mvpd": "\(mvpds.map(\.text).joined(separator: ","))", "sessions": "\(count)", "trace_id": "\(trace.traceID)",
            ])
        metrics.logoutEnded("by_mvpd")
    }
}
