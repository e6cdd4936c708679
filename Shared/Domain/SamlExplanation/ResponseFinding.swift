package import Contracts
package import SamlProfile

/// The verdict on a response and how it came about.
package struct ResponseFinding: Sendable {
    package let verdict: ResponseVerdict
    package let explanation: ResponseExplanation

    package init(verdict: ResponseVerdict, explanation: ResponseExplanation) {
        self.verdict = verdict
        self.explanation = explanation
    }

    /// The endpoint's record cannot be used.
    package static func unusable(_ error: SamlConfigurationError) -> ResponseFinding {
        let rejection = SamlRejection(.unusable, error.description)
        return ResponseFinding(
            verdict: .rejected(rejection),
            explanation: ResponseExplanation(rejection, at: .pinnedKey, hint: "Correct saml.signingCertificates of the MVPD."))
    }
}

/// The outcome that a sign-in with a held response would have had.
package struct HeldFinding: Sendable {
    package let result: SignInResult
    /// The reason code or the MVPD's status; empty for a success.
    package let reason: String
    package let explanation: ResponseExplanation

    package init(result: SignInResult, reason: String, explanation: ResponseExplanation) {
        self.result = result
        self.reason = reason
        self.explanation = explanation
    }

    init(_ finding: ResponseFinding) {
        let (result, reason) = finding.verdict.outcome
        self.init(result: result, reason: reason, explanation: finding.explanation)
    }
}

extension ResponseVerdict {
    fileprivate var outcome: (result: SignInResult, reason: String) {
        switch self {
        case .accepted: (.signedIn, "")
        case .rejected(let rejection): (.rejected, rejection.reason.rawValue)
        case .status(let status):
            switch status.consequence {
            case .declined: (.declined, status.codes.last ?? "")
            case .notAuthenticated: (.silent, "NoPassive")
            case .misconfigured: (.rejected, status.codes.last ?? "")
            }
        }
    }
}
