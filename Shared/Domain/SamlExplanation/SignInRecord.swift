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
    package let explanation: ResponseExplanation

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
        self.explanation = explanation
    }

    /// - Parameter isWhole: With checks and facts.
    package func contract(isWhole: Bool = true) -> SignInReport {
        SignInReport(
            traceID: trace, endedAtMilliseconds: UInt64(clamping: endedAt.milliseconds), requestor: requestor, mvpd: mvpd, result: result,
            reason: reason, checks: isWhole ? explanation.steps.map(\.contract) : [],
            facts: isWhole ? explanation.facts.map { SignInFact(name: $0.name, value: $0.value) } : [])
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
