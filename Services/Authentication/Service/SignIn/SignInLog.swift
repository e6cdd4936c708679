internal import ContractRuntime
internal import Contracts
internal import Logging
internal import SamlProfile

/// Tells how a sign-in ended: to the log, to the metrics and to the browser. Reasons only, never a value out of the message.
struct SignInLog: Sendable {
    let logger: Logger
    let metrics: AuthenticationMetrics
    let trace: TraceContext

    func signedIn(mvpd: MvpdID, redirect: String) -> SignInOutcome {
        logger.info("signed_in", metadata: metadata(mvpd))
        metrics.signInEnded("signed_in")
        return SignInOutcome(result: .signedIn, redirectURL: redirect, traceID: trace.traceID)
    }

    func declined(_ codes: [String], mvpd: MvpdID, redirect: String) -> SignInOutcome {
        logger.info("sign_in_declined", metadata: metadata(mvpd, ["status": "\(codes.joined(separator: "/"))"]))
        metrics.signInEnded("declined", reason: codes.last ?? "")
        return SignInOutcome(result: .declined, redirectURL: redirect, traceID: trace.traceID)
    }

    func silent(mvpd: MvpdID, redirect: String) -> SignInOutcome {
        metrics.signInEnded("silent")
        return SignInOutcome(result: .silent, redirectURL: redirect, traceID: trace.traceID)
    }

    /// An alarm: somebody has to change something before anybody signs in.
    func misconfigured(_ codes: [String], mvpd: MvpdID) -> SignInOutcome {
        logger.error("saml_misconfigured", metadata: metadata(mvpd, ["status": "\(codes.joined(separator: "/"))"]))
        metrics.signInEnded("rejected", reason: codes.last ?? "")
        return SignInOutcome(result: .rejected, traceID: trace.traceID)
    }

    func rejected(_ rejection: SamlRejection, mvpd: MvpdID? = nil) -> SignInOutcome {
        let details: Logger.Metadata = ["reason": "\(rejection.reason.rawValue)", "explanation": "\(rejection.explanation)"]
        logger.warning("saml_rejected", metadata: metadata(mvpd, details))
        metrics.signInEnded("rejected", reason: rejection.reason.rawValue)
        return SignInOutcome(result: .rejected, traceID: trace.traceID)
    }

    func metadata(_ mvpd: MvpdID?, _ details: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = details
        metadata["trace_id"] = "\(trace.traceID)"
        if let mvpd { metadata["mvpd"] = "\(mvpd)" }
        return metadata
    }
}
