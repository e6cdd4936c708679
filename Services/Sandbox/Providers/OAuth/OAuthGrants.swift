/// What an application asks for on behalf of a person (RFC 6749 §4.1.1, RFC 7636 §4.3).
struct OAuthRequest: Codable, Sendable, Equatable {
    let client: String
    let redirectURI: String
    let state: String
    let nonce: String?
    let challenge: String
    let scope: String
    /// `prompt` and `acr_values` as they were sent.
    let prompt: String?
    let authenticationContext: String?

    /// Whether the provider must not show a page (`prompt=none`).
    var isSilent: Bool { prompt == "none" }

    /// Whether the home network may identify the person.
    var acceptsHome: Bool { isSilent || authenticationContext?.contains("InternetProtocol") == true }
}

/// The grant of a code. It is sealed into the code itself.
struct OAuthCode: Codable, Sendable {
    let request: OAuthRequest
    let person: String
    let isHome: Bool
    let identifier: String
}

/// The grant of an access or a refresh token; sealed into the token.
struct OAuthGrant: Codable, Sendable {
    let person: String
    let client: String
    let isHome: Bool
    /// Which sign-in it came from.
    let family: String
    /// Counts the refresh tokens of a family, from 0.
    let generation: Int
    /// Makes each token another text.
    let identifier: String
}
