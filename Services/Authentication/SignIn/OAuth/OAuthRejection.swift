package import SamlProfile
package import Tokens

/// Why an OAuth provider's answer is not accepted; for the log and the metrics.
package struct OAuthRejection: Error, Hashable, Sendable {
    /// The codes are decisions of ours, like those of mvpd §2.3.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        case unknownState = "state.unknown"
        case parameters = "oauth.params"
        /// The answer came to another address than its sign-in named (RFC 9700 §4.4.2).
        case callback = "oauth.callback"
        /// `iss` of the callback (RFC 9207).
        case issuer = "oauth.issuer"
        /// The code is used, foreign or too old, or the verifier does not fit.
        case code = "oauth.code"
        case missingIdentityToken = "idtoken.missing"
        case identityTokenForm = "idtoken.form"
        case identityTokenAlgorithm = "idtoken.alg"
        case identityTokenKey = "idtoken.key"
        case identityTokenSignature = "idtoken.signature"
        case identityTokenIssuer = "idtoken.issuer"
        case identityTokenAudience = "idtoken.audience"
        case identityTokenParty = "idtoken.azp"
        case identityTokenTime = "idtoken.time"
        case identityTokenNonce = "idtoken.nonce"
        /// The profile is of another person than the `id_token`.
        case profileSubject = "profile.subject"
        case missingSubject = "subject.missing"
    }

    package let reason: Reason
    /// Set where a time was wrong, and would be right by another clock than ours.
    package let clock: OwnClock?

    package init(_ reason: Reason) { (self.reason, clock) = (reason, nil) }

    package init(_ rejection: TokenRejection) {
        clock =
            switch rejection {
            case .notYetValid: .behind
            case .expired: .ahead
            default: nil
            }
        switch rejection {
        case .malformed, .wrongType: reason = .identityTokenForm
        case .wrongAlgorithm: reason = .identityTokenAlgorithm
        case .unknownKey: reason = .identityTokenKey
        case .invalidSignature: reason = .identityTokenSignature
        case .wrongIssuer: reason = .identityTokenIssuer
        case .wrongAudience: reason = .identityTokenAudience
        case .wrongParty: reason = .identityTokenParty
        case .wrongNonce: reason = .identityTokenNonce
        case .notYetValid, .expired: reason = .identityTokenTime
        }
    }
}
