package import AuthenticationCore
package import Clocks
package import ContractRuntime
package import Contracts
package import Logging
internal import SamlExplanation
package import SamlProfile
internal import UsageCounting

/// Tells how a sign-in ended: to the log, to the metrics and to the browser. Reasons only, never a value out of the message.
package struct SignInLog: Sendable {
    package let logger: Logger
    package var metrics: AuthenticationMetrics
    package let trace: TraceContext
    /// Remembers each sign-in that has an explanation; nil: none.
    package var reports: (any SignInReporting)?
    package var now = Timestamp(milliseconds: 0)
    /// Set once the pending sign-in is found.
    package var requestor: RequestorID?
    /// Set once the message was checked.
    package var explanation: ResponseExplanation?
    /// For a sign-in by OAuth: true when the provider publishes keys, so that its `id_token` is checked; nil: by SAML.
    package var checksIdentityToken: Bool?
    /// Set for a test sign-in: nobody is counted, nobody is woken, and the browser learns only that it is over.
    package var test: TestSignInRecord?

    package init(
        logger: Logger, metrics: AuthenticationMetrics, trace: TraceContext, reports: (any SignInReporting)? = nil,
        now: Timestamp = Timestamp(milliseconds: 0), requestor: RequestorID? = nil, explanation: ResponseExplanation? = nil,
        checksIdentityToken: Bool? = nil, test: TestSignInRecord? = nil
    ) {
        (self.logger, self.metrics, self.trace, self.reports) = (logger, metrics, trace, reports)
        (self.now, self.requestor, self.explanation, self.checksIdentityToken) = (now, requestor, explanation, checksIdentityToken)
        self.test = test
    }

    package func signedIn(mvpd: MvpdID, redirect: String) -> SignInOutcome {
        tell(.info, "signed_in", metadata(mvpd))
        count("signed_in", mvpd: mvpd)
        metrics.clock?.accepted(mvpd)
        var passed = explanation
        passed?.note(.replay, .passed)
        keep(.signedIn, "", mvpd, passed, .allPassed)
        return outcome(.signedIn, redirect, reason: "")
    }

    package func declined(_ codes: [String], mvpd: MvpdID, redirect: String) -> SignInOutcome {
        tell(.info, "sign_in_declined", metadata(mvpd, ["status": "\(codes.joined(separator: "/"))"]))
        count("declined", reason: codes.last ?? "")
        keep(.declined, codes.last ?? "", mvpd, explanation, .declined)
        return outcome(.declined, redirect, reason: codes.last ?? "")
    }

    package func silent(mvpd: MvpdID, redirect: String) -> SignInOutcome {
        count("silent")
        keep(.silent, "NoPassive", mvpd, explanation, .declined)
        return outcome(.silent, redirect, reason: "NoPassive")
    }

    /// An alarm: somebody has to change something before anybody signs in.
    package func misconfigured(_ codes: [String], mvpd: MvpdID) -> SignInOutcome {
        tell(.error, "saml_misconfigured", metadata(mvpd, ["status": "\(codes.joined(separator: "/"))"]))
        count("rejected", reason: codes.last ?? "", mvpd: mvpd)
        keep(.rejected, codes.last ?? "", mvpd, explanation)
        return outcome(.rejected, reason: codes.last ?? "")
    }

    /// - Parameters:
    ///   - check: The check that failed, where it is none of the message's own.
    ///   - hint: The settings to change.
    package func rejected(_ rejection: SamlRejection, mvpd: MvpdID? = nil, at check: Check? = nil, hint: String = "") -> SignInOutcome {
        let details: Logger.Metadata = ["reason": "\(rejection.reason.rawValue)", "explanation": "\(rejection.explanation)"]
        tell(.warning, "saml_rejected", metadata(mvpd, details))
        count("rejected", reason: rejection.reason.rawValue, mvpd: mvpd)
        if let side = rejection.clock, let mvpd { metrics.clock?.refused(side, by: mvpd) }
        var failed = explanation
        if let check {
            if failed == nil { failed = ResponseExplanation(rejection, at: check, hint: hint) }
            failed?.fail(check, rejection, hint: hint)
        }
        keep(.rejected, rejection.reason.rawValue, mvpd, failed)
        return outcome(.rejected, reason: rejection.reason.rawValue)
    }

    /// The result for the browser.
    package func outcome(_ result: SignInResult, _ redirect: String = "", reason: String) -> SignInOutcome {
        if let test {
            let verdict = test.isScheduled ? ScheduledSignInVerdict(result: result, reason: reason) : nil
            return SignInOutcome(result: .tested, traceID: trace.traceID, verdict: verdict)
        }
        let told = result == .rejected ? requestor?.text ?? "" : ""
        return SignInOutcome(result: result, redirectURL: redirect, traceID: trace.traceID, requestor: told)
    }

    /// - Parameter mvpd: The MVPD that sent the answer, or did not; `nil`: nobody knows.
    package func count(_ result: String, reason: String = "", mvpd: MvpdID? = nil) {
        if test == nil { metrics.signInEnded(result, reason: reason, mvpd: mvpd) }
    }

    /// - Parameter level: The level for a viewer's sign-in.
    package func tell(_ level: Logger.Level, _ event: String, _ metadata: Logger.Metadata) {
        guard let test else { return logger.log(level: level, "\(event)", metadata: metadata) }
        // The program that plays the browser tells how a scheduled one ended.
        logger.log(level: test.isScheduled ? .debug : .info, "test_sign_in", metadata: metadata.merging(["event": "\(event)"]) { own, _ in own })
    }

    /// - Parameter end: The explanation of a sign-in by OAuth.
    package func keep(
        _ result: SignInResult, _ reason: String, _ mvpd: MvpdID?, _ explanation: ResponseExplanation?, _ end: OAuthExplanation.End = .declined
    ) {
        if test == nil, result != .silent, let mvpd { metrics.returns?.returned(from: mvpd.text, at: now) }
        // A schedule would push viewers' reports out.
        guard test?.isScheduled != true, var record = record(result, reason, mvpd, explanation, end) else { return }
        record.testedFor = test?.programmer.text
        reports?.add(record)
    }

    private func record(
        _ result: SignInResult, _ reason: String, _ mvpd: MvpdID?, _ explanation: ResponseExplanation?, _ end: OAuthExplanation.End
    ) -> SignInRecord? {
        let (requestor, mvpd) = (requestor?.text ?? "", mvpd?.text ?? "")
        if let checksIdentityToken {
            return SignInRecord(
                trace: trace.traceID, endedAt: now, requestor: requestor, mvpd: mvpd, result: result, reason: reason,
                checks: OAuthExplanation.checks(end, hasIdentityToken: checksIdentityToken))
        }
        return explanation.map { explanation in
            SignInRecord(
                trace: trace.traceID, endedAt: now, requestor: requestor, mvpd: mvpd, result: result, reason: reason, explanation: explanation)
        }
    }

    package func metadata(_ mvpd: MvpdID?, _ details: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = details
        metadata["trace_id"] = "\(trace.traceID)"
        if let mvpd { metadata["mvpd"] = "\(mvpd)" }
        return metadata
    }
}

extension AuthenticationMetrics {
    /// A platform's sign-in was enough: nobody was sent anywhere.
    func countPlatformSignIn(_ attempt: PlatformExchanger.Attempt) {
        var dimensions = UsageDimensions(
            requestor: attempt.caller.requestor.text, mvpd: attempt.mvpd.text, device: attempt.caller.information)
        dimensions.clientType = UsageDimensions.short(attempt.caller.deviceType)
        dimensions.ssoType = "platform"
        dimensions.externalProvider = [.ios, .tvos].contains(attempt.platform) ? "Apple" : ""
        usage.count(.sso, dimensions)
    }
}

extension SignInLog {
    /// Somebody came back from the MVPD, with whatever answer.
    /// - Parameter record: The record of the code that the sign-in is for, as far as it lives.
    mutating func personReturned(_ pending: PendingSignIn, _ record: RegistrationRecord?) {
        var dimensions = UsageDimensions(requestor: pending.requestor.text, mvpd: pending.mvpd.text, device: DeviceInformation())
        if let record, record.id == pending.record { dimensions = AuthenticationMetrics.dimensions(record, at: pending.mvpd) }
        metrics.usage.count(.authnPending, dimensions)
        metrics.signIn = dimensions
    }
}
