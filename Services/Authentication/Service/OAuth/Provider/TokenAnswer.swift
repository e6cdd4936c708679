internal import OutboundHttp
internal import StrictJson

/// What a token endpoint says (RFC 6749 §5).
enum TokenAnswer: Sendable {
    case granted(TokenGrant)
    /// `error`: `invalid_grant`, `invalid_client`, …
    case refused(code: String)

    /// - Returns: `nil` when it is neither of the two.
    init?(_ answer: OutboundAnswer) {
        guard let members = ClaimSet(json: answer.body) else { return nil }
        switch answer.status {
        case 200:
            guard let grant = TokenGrant(members) else { return nil }
            self = .granted(grant)
        case 400, 401:
            guard let code = members.text("error") else { return nil }
            self = .refused(code: code)
        default: return nil
        }
    }
}

/// Tokens that an MVPD gave out.
struct TokenGrant: Sendable {
    let accessToken: UpstreamAccessToken
    /// `expires_in`, if it was sent.
    let lifetime: Duration?
    let refreshToken: UpstreamRefreshToken?
    /// Compact JWS, unverified.
    let identityToken: String?

    /// Bytes; no genuine token is longer.
    private static let longest = 16 * 1024

    init?(_ members: ClaimSet) {
        guard let access = members.text("access_token"), (1...Self.longest).contains(access.utf8.count),
            access.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), members.text("token_type")?.lowercased() == "bearer"
        else { return nil }
        accessToken = UpstreamAccessToken(access)
        lifetime = members.number("expires_in").flatMap { (1...31_536_000).contains($0) ? .seconds($0) : nil }
        refreshToken = members.text("refresh_token").flatMap { (1...Self.longest).contains($0.utf8.count) ? UpstreamRefreshToken($0) : nil }
        identityToken = members.text("id_token")
    }
}
