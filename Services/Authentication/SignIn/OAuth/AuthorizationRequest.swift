internal import Contracts
internal import TextEncodings

/// The address at which an MVPD asks a person to sign in (RFC 6749 §4.1.1, RFC 7636, OpenID Connect Core §3.1.2.1).
struct AuthorizationRequest: Sendable {
    let provider: OAuthProvider
    let attempt: OAuthAttempt
    let state: RelayHandle
    let proofs: SignInProofs
    /// Exactly the one that the MVPD knows.
    let redirectURI: String

    var url: String {
        let endpoint = provider.endpoint
        var parameters = [
            ("response_type", "code"), ("client_id", provider.clientID), ("redirect_uri", redirectURI), ("state", state.text),
            ("nonce", proofs.nonce(state)), ("code_challenge", proofs.challenge(state)), ("code_challenge_method", "S256"),
        ]
        if !endpoint.scopes.isEmpty { parameters.append(("scope", endpoint.scopes.joined(separator: " "))) }
        switch attempt {
        case .interactive: break
        case .homeBased: parameters.append((endpoint.forceAuthnParameter, endpoint.forceAuthnValue))
        case .passive: parameters.append(("prompt", "none"))
        }
        return endpoint.authorizeURL + (endpoint.authorizeURL.contains("?") ? "&" : "?") + FormEncoding.encode(parameters)
    }
}

/// How a person is asked.
enum OAuthAttempt: Hashable, Sendable {
    case interactive
    /// The MVPD may recognise the home network; if it does not, the person is asked after all (mvpd §3).
    case homeBased
    /// Nobody is asked anything.
    case passive
}
