package import Clocks
package import Contracts
package import SamlProfile

/// How one sign-in went; nothing in it is personal.
package struct SignInRecord: Sendable {
    package let trace: String
    package let endedAt: Timestamp
    /// Empty when no pending sign-in was found.
    package let requestor: String
    package let mvpd: String
    package let result: SignInResult
    /// The reason code or the MVPD's status; empty for a success.
    package let reason: String
    /// The requestor that a test sign-in was for; `nil`: a viewer's.
    package var testedFor: String?
    private let account: Account

    private enum Account {
        case saml(ResponseExplanation)
        case checks([SignInCheck])
    }

    package init(
        trace: String, endedAt: Timestamp, requestor: String = "", mvpd: String = "", result: SignInResult, reason: String = "",
        explanation: ResponseExplanation
    ) {
        self.trace = trace
        self.endedAt = endedAt
        self.requestor = requestor
        self.mvpd = mvpd
        self.result = result
        self.reason = reason
        account = .saml(explanation)
    }

    /// - Parameter checks: The checks of a sign-in by another protocol, in their order.
    package init(
        trace: String, endedAt: Timestamp, requestor: String, mvpd: String, result: SignInResult, reason: String, checks: [SignInCheck]
    ) {
        self.trace = trace
        self.endedAt = endedAt
        self.requestor = requestor
        self.mvpd = mvpd
        self.result = result
        self.reason = reason
        account = .checks(checks)
    }

    /// - Parameter isWhole: With checks and facts.
    package func contract(isWhole: Bool = true) -> SignInReport {
        var report = SignInReport(
            traceID: trace, endedAtMilliseconds: UInt64(clamping: endedAt.milliseconds), requestor: requestor, mvpd: mvpd, result: result,
            reason: reason, isTest: testedFor != nil, programmerID: testedFor ?? "")
        guard isWhole else { return report }
        switch account {
        case .saml(let explanation):
            report.checks = explanation.steps.map(\.contract)
            report.facts = explanation.facts.map { SignInFact(name: $0.name, value: $0.value) }
        case .checks(let checks): report.checks = checks
        }
        return report
    }
}

extension ResponseExplanation.Step {
    fileprivate var contract: SignInCheck {
        SignInCheck(
            step: UInt32(check.step), title: check.title, outcome: outcome.contract, reason: reason, explanation: explanation, hint: hint)
    }
}

extension ResponseExplanation.Outcome {
    fileprivate var contract: SignInCheckOutcome {
        switch self {
        case .passed: .passed
        case .failed: .failed
        case .notReached: .notReached
        case .notNeeded: .notNeeded
        case .notChecked: .notChecked
        }
    }
}
