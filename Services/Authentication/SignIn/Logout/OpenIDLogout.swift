internal import Contracts
internal import TextEncodings

/// A browser's visit at the logout of an OpenID provider (OpenID Connect RP-Initiated Logout 1.0 §2, §3).
struct OpenIDLogout: Sendable {
    /// Octets of an address; what is longer goes in a form. Servers refuse longer ones.
    static let longestAddress = 8000

    let provider: OAuthProvider
    /// The id_token of the sign-in; `nil`: none is at hand.
    let hint: UpstreamIdentityToken?
    /// The person's id at the provider, where the id is its `sub`; empty: nobody knows it.
    let subject: String
    /// Our address, registered there to the letter.
    let returnAddress: String
    let state: String

    private var parameters: [(name: String, value: String)] {
        [
            ("id_token_hint", hint?.text ?? ""), ("logout_hint", hint == nil ? subject : ""), ("client_id", provider.clientID),
            ("post_logout_redirect_uri", returnAddress), ("state", state),
        ].filter { !$0.1.isEmpty }
    }

    /// Where the browser goes, and what it posts there; no fields: it is redirected.
    var step: (url: String, fields: [FormField]) {
        let address = LogoutWay.address(provider.endpoint.logoutURL, parameters)
        guard address.utf8.count > Self.longestAddress else { return (address, []) }
        return (provider.endpoint.logoutURL, parameters.map { FormField(name: $0.name, value: $0.value) })
    }
}
