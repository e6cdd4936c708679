internal import AuthenticationCore
package import OutboundHttp
internal import StrictJson

/// What a token endpoint says (RFC 6749 §5).
package enum TokenAnswer: Sendable {
    case granted(TokenGrant)
    /// `error`: `invalid_grant`, `invalid_client`, …
    case refused(code: String)

    /// - Returns: `nil` when it is neither of the two.
    init?(_ answer: OutboundAnswer) {
        guard let members = ClaimSet(json: answer.body) else { return nil }
        switch answer.status {
        case 200, 201:
            guard let grant = TokenGrant(members) else { return nil }
            self = .granted(grant)
        case 400, 401:
            guard let code = members.text("error") else { return nil }
            self = .refused(code: code)
        default: return nil
        }
    }

    /// Why an answer is neither of the two; nothing of what it holds.
    package static func problem(_ answer: OutboundAnswer) -> String {
        guard let members = ClaimSet(json: answer.body) else { return "it answered with status \(answer.status), and with no JSON object" }
        switch answer.status {
        case 200, 201:
            guard members.text("access_token") != nil else { return "access_token is missing, or is no string (RFC 6749 §5.1)" }
            guard let type = members.text("token_type") else { return "token_type is missing, or is no string (RFC 6749 §5.1)" }
            guard type.lowercased() == "bearer" else {
                return "token_type is '\(type.filter { $0.isASCII && $0.isLetter }.prefix(32))'; it must be Bearer"
            }
            return "access_token is empty, too long, or holds characters that no token has (RFC 6750 §2.1)"
        case 400, 401: return "it answered with status \(answer.status), and error is missing (RFC 6749 §5.2)"
        default: return "it answered with status \(answer.status)"
        }
    }
}

/// Tokens that an MVPD gave out.
package struct TokenGrant: Sendable {
    let accessToken: UpstreamAccessToken
    /// `expires_in`, if it was sent.
    package let lifetime: Duration?
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
