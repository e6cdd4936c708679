package import AuthenticationCore
package import Contracts
package import Faults
internal import Logging

/// Explains an OAuth provider's answer, check by check in their order (mvpd §3), for engineers who ask why a sign-in failed. Nothing in it is
/// personal.
package struct OAuthExplanation: Sendable {
    private struct Step {
        let reason: String
        let title: String
        /// The MVPD's deviation.
        let explanation: String
        /// The remedy: a change at the MVPD, or a setting.
        let hint: String
        /// It is about an `id_token`: a provider with a profile alone has none.
        var isOfIdentityToken = false
    }

    /// The check of an answer with `error`, and of a token endpoint that refuses us.
    package static let error = "oauth.error"
    /// The MVPD is away.
    package static let away = "oauth.unavailable"

    private static let steps = [
        Step(
            reason: "state.unknown", title: "state and cookie lead to a pending sign-in",
            explanation: "The sign-in was over, or began in another browser.",
            hint: "One person's case is no fault. If all fail, the MVPD does not send state back as it came."),
        Step(
            reason: "oauth.callback", title: "it came to the address that the request named",
            explanation: "The answer came to another record's address, or to the shared one.",
            hint: "Another provider answers for this one: an attack, or a redirect address that is registered at the wrong MVPD."),
        Step(
            reason: "oauth.issuer", title: "the answer is the MVPD's",
            explanation: "iss of the answer is another issuer than the MVPD's, or is missing where it must be sent.",
            hint: "oauth.issuer must be the issuer of the MVPD's discovery document, to the letter."),
        Step(
            reason: error, title: "the MVPD reports no error", explanation: "The MVPD refused the request itself, not the person.",
            hint:
                "Compare oauth.clientId, the secret under oauth.clientSecretReference, oauth.scopes, oauth.clientAuthentication and the registered redirect address."
        ),
        Step(
            reason: "oauth.params", title: "the answer has a code", explanation: "The answer has neither a code nor an error.",
            hint: "The MVPD must answer with response_type=code at oauth.authorizeUrl."),
        Step(
            reason: away, title: "the MVPD's endpoints answer in time",
            explanation: "An endpoint of the MVPD could not be reached, or its answer was useless.",
            hint: "Look at oauth.tokenUrl, oauth.jwksUrl, oauth.profileUrl, the network, and oauth.totalTimeoutMs."),
        Step(
            reason: "oauth.code", title: "the token endpoint takes the code", explanation: "The MVPD says that the code is used, foreign or too old.",
            hint: "The redirect address must be registered to the letter, and the MVPD must support PKCE with S256."),
        Step(
            reason: "idtoken.missing", title: "there is an id_token",
            explanation: "The token endpoint sent none, though nothing else tells the person.",
            hint: "Add openid to oauth.scopes, or give oauth.profileUrl."),
        Step(
            reason: "idtoken.form", title: "it is a signed JWT", explanation: "The id_token cannot be read.",
            hint: "The MVPD must send a compact JWS.",
            isOfIdentityToken: true),
        Step(
            reason: "idtoken.alg", title: "its algorithm is accepted", explanation: "The id_token is signed by an algorithm that is not accepted.",
            hint: "The MVPD must sign with RS256 or ES256.", isOfIdentityToken: true),
        Step(
            reason: "idtoken.key", title: "its key is published",
            explanation: "The key that the id_token names is not at the MVPD's address of keys.",
            hint: "Look at oauth.jwksUrl; the MVPD must publish a key before it signs with it.", isOfIdentityToken: true),
        Step(
            reason: "idtoken.signature", title: "its signature is good", explanation: "The signature of the id_token does not fit.",
            hint:
                "Look at oauth.jwksUrl: it may be another provider's. Its keys were read once more before this was said, unless that was less than a minute ago.",
            isOfIdentityToken: true),
        Step(
            reason: "idtoken.issuer", title: "it is the MVPD's", explanation: "iss of the id_token is another issuer.",
            hint: "oauth.issuer must be the iss of its id_tokens, to the letter.", isOfIdentityToken: true),
        Step(
            reason: "idtoken.audience", title: "it is for us", explanation: "aud of the id_token is another client.",
            hint: "oauth.clientId (or oauthClient of the integration) must be the client that the MVPD made for us.", isOfIdentityToken: true),
        Step(
            reason: "idtoken.azp", title: "it was made for us", explanation: "azp of the id_token is another client.",
            hint: "azp, where the MVPD sends it, must be oauth.clientId.", isOfIdentityToken: true),
        Step(
            reason: "idtoken.time", title: "it is valid now", explanation: "The id_token is expired, or not valid yet.",
            hint: "Compare the clocks of both sides; oauth.clockSkew allows for a difference.", isOfIdentityToken: true),
        Step(
            reason: "idtoken.nonce", title: "it answers our request", explanation: "nonce of the id_token is not that of the request.",
            hint: "The MVPD must put nonce of the request into the id_token.", isOfIdentityToken: true),
        Step(
            reason: "profile.subject", title: "profile and id_token are of one person", explanation: "sub of the profile is another one.",
            hint: "oauth.profileUrl must be of the same provider."),
        Step(
            reason: "subject.missing", title: "the person's id is there", explanation: "The claim with the person's id is absent.",
            hint: "oauth.userIdClaim names the claim, sub without it."),
    ]

    /// The checks ended in one of these ways.
    package enum End {
        case allPassed
        /// The person, or the MVPD for the person, said no: nothing is left to check.
        case declined
        /// With the reason of the check.
        case failed(String)
    }

    /// - Parameter hasIdentityToken: The provider publishes keys, so that its `id_token` is checked.
    static func checks(_ end: End, hasIdentityToken: Bool) -> [SignInCheck] {
        let (place, hasFailed): (Int, Bool) =
            switch end {
            case .allPassed: (steps.count, false)
            case .declined: (steps.firstIndex { $0.reason == error } ?? 0, false)
            case .failed(let reason): (steps.firstIndex { $0.reason == reason } ?? 0, true)
            }
        return steps.enumerated().map { index, step in
            var check = SignInCheck(step: UInt32(index + 1), title: step.title)
            if index == place, hasFailed {
                (check.outcome, check.reason, check.explanation, check.hint) = (.failed, step.reason, step.explanation, step.hint)
            } else if step.isOfIdentityToken, !hasIdentityToken {
                check.outcome = .notNeeded
            } else {
                check.outcome = index < place ? .passed : .notReached
            }
            return check
        }
    }
}

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
