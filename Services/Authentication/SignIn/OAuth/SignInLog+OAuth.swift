package import AuthenticationCore
package import Contracts
package import Faults
internal import Logging

extension SignInLog {
    package func rejected(_ rejection: OAuthRejection, mvpd: MvpdID? = nil) -> SignInOutcome {
        tell(.warning, "oauth_rejected", metadata(mvpd, ["reason": "\(rejection.reason.rawValue)"]))
        count("rejected", reason: rejection.reason.rawValue, mvpd: mvpd)
        if let side = rejection.clock, let mvpd { metrics.clock?.refused(side, by: mvpd) }
        keep(.rejected, rejection.reason.rawValue, mvpd, nil, .failed(rejection.reason.rawValue))
        return outcome(.rejected, reason: rejection.reason.rawValue)
    }

    /// An alarm: the two sides do not fit together.
    /// - Parameter code: `error` of the MVPD, which anybody may have put into the address.
    package func oauthMisconfigured(_ code: String, mvpd: MvpdID) -> SignInOutcome {
        let known = OAuthErrors.known.contains(code) ? code : "other"
        tell(.error, "oauth_misconfigured", metadata(mvpd, ["error": "\(known)"]))
        count("rejected", reason: known, mvpd: mvpd)
        keep(.rejected, known, mvpd, nil, .failed(OAuthExplanation.error))
        return outcome(.rejected, reason: known)
    }

    /// The person has to be asked after all.
    package func continued(_ next: SignInStart, mvpd: MvpdID) -> SignInOutcome {
        tell(.info, "sign_in_continued", metadata(mvpd))
        count("continued")
        return SignInOutcome(result: .continued, traceID: trace.traceID, next: next)
    }

    /// The MVPD is away: nothing is said of the person, who may start again.
    package func unavailable(_ fault: Fault, mvpd: MvpdID) -> Fault {
        tell(.error, "oauth_unavailable", metadata(mvpd, ["cause": "\(fault)"]))
        count("unavailable", reason: fault.code.rawValue, mvpd: mvpd)
        keep(.rejected, OAuthExplanation.away, mvpd, nil, .failed(OAuthExplanation.away))
        return Fault(.unavailable, "The TV provider cannot be reached. Start again later.", isRetryable: false, retryAfter: .seconds(5), cause: fault)
    }
}

/// Error codes of RFC 6749 §4.1.2.1, §5.2 and OpenID Connect Core §3.1.2.6.
enum OAuthErrors {
    /// A person has to be asked.
    static let interaction: Set<String> = ["login_required", "interaction_required", "consent_required", "account_selection_required"]
    /// The provider is in trouble.
    static let trouble: Set<String> = ["server_error", "temporarily_unavailable"]
    static let known: Set<String> = interaction.union(trouble).union([
        "access_denied", "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope", "invalid_client", "invalid_grant",
        "unsupported_grant_type",
    ])
}
