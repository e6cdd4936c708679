internal import Clocks
internal import Contracts
internal import SamlProfile

/// How one sign-in went; nothing in it is personal.
struct SignInRecord: Sendable {
    let trace: String
    let endedAt: Timestamp
    /// Empty when no pending sign-in was found.
    var requestor = ""
    var mvpd = ""
    let result: SignInResult
    /// The reason code or the MVPD's status; empty for a success.
    var reason = ""
    let explanation: ResponseExplanation

    /// - Parameter isWhole: With checks and facts.
    func contract(isWhole: Bool = true) -> SignInReport {
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
