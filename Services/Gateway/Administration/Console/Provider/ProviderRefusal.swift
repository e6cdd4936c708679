internal import GatewayEdge
internal import OutboundHttp
internal import Tokens

/// Why nobody is signed in by the identity provider: for the page, the log and whoever sets it up. Nothing in it is secret.
struct ProviderRefusal: Error, Hashable, Sendable {
    /// What the page advises.
    enum Kind: String, Sendable {
        /// The browser brings no sign-in that is under way: used, too old, begun elsewhere.
        case stale
        /// The person declined.
        case declined
        /// The provider does not answer.
        case away
        /// What the provider sent fails a check.
        case unacceptable
        /// The person is known there, and nothing here.
        case unmapped
        /// Settings of gateway, config and provider do not fit together.
        case misconfigured
    }

    let kind: Kind
    /// One word for the log, such as `idtoken.wrongNonce`.
    let code: String
    /// For the page; empty: the kind says all.
    let words: String

    init(_ kind: Kind, _ code: String, _ words: String = "") {
        self.kind = kind
        self.code = code
        self.words = words
    }

    init(_ endpoint: String, _ failure: OutboundFailure) { self.init(.away, "\(endpoint).\(failure.kind.rawValue)") }

    /// Of an identity token.
    init(_ rejection: TokenRejection) {
        let words =
            switch rejection {
            case .malformed: "The identity token is no signed token with issuer, subject, audience and times."
            case .wrongType: "The identity token is of another type."
            case .wrongAlgorithm: "The identity token must be signed with RS256, PS256 or ES256, by a key that is for it."
            case .unknownKey: "The key that signed the identity token is none of those that the provider publishes."
            case .invalidSignature: "The signature of the identity token is wrong."
            case .wrongIssuer: "The identity token is of another issuer."
            case .wrongAudience: "The identity token is for another client."
            case .wrongParty: "The identity token was made for another client (azp)."
            case .wrongNonce: "The identity token answers another sign-in."
            case .notYetValid: "The identity token is from the future: the clocks of provider and gateway differ."
            case .expired: "The identity token has expired, or the clocks of provider and gateway differ."
            }
        self.init(.unacceptable, "idtoken.\(rejection.rawValue)", words)
    }
}
