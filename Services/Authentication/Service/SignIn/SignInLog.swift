internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Logging
internal import SamlExplanation
internal import SamlProfile

/// Tells how a sign-in ended: to the log, to the metrics and to the browser. Reasons only, never a value out of the message.
struct SignInLog: Sendable {
    let logger: Logger
    var metrics: AuthenticationMetrics
    let trace: TraceContext
    /// Remembers each sign-in that has an explanation; nil: none.
    var reports: SignInReports?
    var now = Timestamp(milliseconds: 0)
    /// Set once the pending sign-in is found.
    var requestor: RequestorID?
    /// Set once the message was checked.
    var explanation: ResponseExplanation?
    /// Of a sign-in by OAuth: whether the provider publishes keys, so that its `id_token` is checked; nil: by SAML.
    var checksIdentityToken: Bool?

    func signedIn(mvpd: MvpdID, redirect: String) -> SignInOutcome {
        logger.info("signed_in", metadata: metadata(mvpd))
        metrics.signInEnded("signed_in")
        var passed = explanation
        passed?.note(.replay, .passed)
        keep(.signedIn, "", mvpd, passed, .allPassed)
        return SignInOutcome(result: .signedIn, redirectURL: redirect, traceID: trace.traceID)
    }

    func declined(_ codes: [String], mvpd: MvpdID, redirect: String) -> SignInOutcome {
        logger.info("sign_in_declined", metadata: metadata(mvpd, ["status": "\(codes.joined(separator: "/"))"]))
        metrics.signInEnded("declined", reason: codes.last ?? "")
        keep(.declined, codes.last ?? "", mvpd, explanation, .declined)
        return SignInOutcome(result: .declined, redirectURL: redirect, traceID: trace.traceID)
    }

    func silent(mvpd: MvpdID, redirect: String) -> SignInOutcome {
        metrics.signInEnded("silent")
        keep(.silent, "NoPassive", mvpd, explanation, .declined)
        return SignInOutcome(result: .silent, redirectURL: redirect, traceID: trace.traceID)
    }

    /// An alarm: somebody has to change something before anybody signs in.
    func misconfigured(_ codes: [String], mvpd: MvpdID) -> SignInOutcome {
        logger.error("saml_misconfigured", metadata: metadata(mvpd, ["status": "\(codes.joined(separator: "/"))"]))
        metrics.signInEnded("rejected", reason: codes.last ?? "")
        keep(.rejected, codes.last ?? "", mvpd, explanation)
        return SignInOutcome(result: .rejected, traceID: trace.traceID)
    }

    /// - Parameters:
    ///   - check: Which check failed, where it is none of the message's own.
    ///   - hint: What to change.
    func rejected(_ rejection: SamlRejection, mvpd: MvpdID? = nil, at check: Check? = nil, hint: String = "") -> SignInOutcome {
        let details: Logger.Metadata = ["reason": "\(rejection.reason.rawValue)", "explanation": "\(rejection.explanation)"]
        logger.warning("saml_rejected", metadata: metadata(mvpd, details))
        metrics.signInEnded("rejected", reason: rejection.reason.rawValue)
        var failed = explanation
        if let check {
            if failed == nil { failed = ResponseExplanation(rejection, at: check, hint: hint) }
            failed?.fail(check, rejection, hint: hint)
        }
        keep(.rejected, rejection.reason.rawValue, mvpd, failed)
        return SignInOutcome(result: .rejected, traceID: trace.traceID)
    }

    /// - Parameter end: Of a sign-in by OAuth.
    func keep(
        _ result: SignInResult, _ reason: String, _ mvpd: MvpdID?, _ explanation: ResponseExplanation?, _ end: OAuthExplanation.End = .declined
    ) {
        if let checksIdentityToken {
            reports?.add(
                SignInRecord(
                    trace: trace.traceID, endedAt: now, requestor: requestor?.text ?? "", mvpd: mvpd?.text ?? "", result: result, reason: reason,
                    checks: OAuthExplanation.checks(end, hasIdentityToken: checksIdentityToken)))
            return
        }
        guard let explanation else { return }
        reports?.add(
            SignInRecord(
                trace: trace.traceID, endedAt: now, requestor: requestor?.text ?? "", mvpd: mvpd?.text ?? "", result: result, reason: reason,
                explanation: explanation))
    }

    func metadata(_ mvpd: MvpdID?, _ details: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = details
        metadata["trace_id"] = "\(trace.traceID)"
        if let mvpd { metadata["mvpd"] = "\(mvpd)" }
        return metadata
    }
}
