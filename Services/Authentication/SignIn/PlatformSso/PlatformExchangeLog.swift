internal import AuthenticationCore
internal import Contracts
internal import Faults
internal import Logging
internal import SamlExplanation
internal import SamlProfile

/// Tells how an exchange ended to the log and the metrics, and makes the one fault that apps get. Reasons only, never a value out of the
/// message.
struct PlatformExchangeLog: Sendable {
    let logger: Logger
    let metrics: AuthenticationMetrics
    let reports: any SignInReporting

    func signedIn(_ attempt: PlatformExchanger.Attempt) {
        logger.info("platform_signed_in", metadata: metadata(attempt))
        metrics.platformExchangeEnded("signed_in")
        metrics.countPlatformSignIn(attempt)
        var passed = attempt.explanation
        passed?.note(.replay, .passed)
        keep(.signedIn, "", attempt, passed)
    }

    func degraded(_ attempt: PlatformExchanger.Attempt) {
        logger.info("platform_degraded", metadata: metadata(attempt))
        metrics.platformExchangeEnded("degraded")
    }

    /// - Parameter check: Which check failed, where it is none of the message's own.
    func refused(_ rejection: SamlRejection, _ attempt: PlatformExchanger.Attempt, at check: Check? = nil) -> Fault {
        var failed = attempt.explanation
        if let check {
            if failed == nil { failed = ResponseExplanation(rejection, at: check, hint: "") }
            failed?.fail(check, rejection, hint: "")
        }
        keep(.rejected, rejection.reason.rawValue, attempt, failed)
        return refused(reason: rejection.reason.rawValue, explanation: rejection.explanation, attempt)
    }

    /// The MVPD answered properly, with a status that signs nobody in.
    func declined(_ codes: [String], _ attempt: PlatformExchanger.Attempt) -> Fault {
        keep(.declined, codes.last ?? "", attempt, attempt.explanation)
        return refused(reason: codes.last ?? "status", explanation: "The MVPD's status is \(codes.joined(separator: "/")).", attempt)
    }

    func incomplete(_ missing: [String], _ attempt: PlatformExchanger.Attempt) -> Fault {
        keep(.rejected, "attributes.missing", attempt, attempt.explanation)
        return refused(reason: "attributes.missing", explanation: "The answer lacks \(missing.joined(separator: ", ")).", attempt)
    }

    private func refused(reason: String, explanation: String, _ attempt: PlatformExchanger.Attempt) -> Fault {
        let details: Logger.Metadata = ["reason": "\(reason)", "explanation": "\(explanation)"]
        logger.warning("platform_exchange_refused", metadata: metadata(attempt).merging(details) { $1 })
        metrics.platformExchangeEnded("refused", reason: reason)
        return Fault(.invalidRequest, "The SAMLResponse is not accepted.")
    }

    private func keep(
        _ result: SignInResult, _ reason: String, _ attempt: PlatformExchanger.Attempt, _ explanation: ResponseExplanation?
    ) {
        guard let explanation else { return }
        reports.add(
            SignInRecord(
                trace: attempt.trace.traceID, endedAt: attempt.now, requestor: attempt.caller.requestor.text, mvpd: attempt.mvpd.text, result: result,
                reason: reason, explanation: explanation))
    }

    private func metadata(_ attempt: PlatformExchanger.Attempt) -> Logger.Metadata {
        ["trace_id": "\(attempt.trace.traceID)", "mvpd": "\(attempt.mvpd)", "platform": "\(attempt.caller.deviceType)"]
    }
}
