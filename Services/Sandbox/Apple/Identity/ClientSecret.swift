internal import Clocks

/// Checks the JWT with which a client proves who it is (apple §2.4).
enum ClientSecret {
    /// Seconds.
    static let longestLife: Int64 = 15_777_000
    static let audience = "https://appleid.apple.com"
    /// Seconds that a team's clock may be ahead.
    private static let tolerance: Int64 = 60

    static func check(_ text: String, client: AppleClient, team: AppleTeam, now: Timestamp) throws(AppleRefusal) {
        guard let token = CompactToken(text) else { throw refusal("is no JWT") }
        guard token.header["alg"] == .text("ES256") else { throw refusal("is not signed by ES256") }
        guard let key = token.header["kid"]?.text.flatMap({ team.signInKeys[$0] }) else { throw refusal("names no key of the team") }
        guard key.verifies(token.signature, over: token.signingInput) else { throw refusal("has a bad signature") }
        guard token.claims["iss"] == .text(team.id) else { throw refusal("has another iss than the team") }
        guard token.claims["sub"] == .text(client.id) else { throw refusal("has another sub than client_id") }
        guard token.claims["aud"] == .text(audience) else { throw refusal("has another aud") }
        guard let issued = token.claims["iat"]?.number, issued <= now.seconds + tolerance else { throw refusal("has no iat, or one ahead") }
        guard let expires = token.claims["exp"]?.number, expires > now.seconds else { throw refusal("has expired") }
        guard expires - now.seconds <= longestLife else { throw refusal("lives too long") }
    }

    private static func refusal(_ problem: String) -> AppleRefusal { AppleRefusal(.invalidClient, "client_secret \(problem)") }
}
