internal import Identifiers

enum AppleRefreshSubject {}
enum AppleAccessSubject {}

/// Good for validating and revoking a consent, by the client id that it was given to.
typealias AppleRefreshToken = Secret<AppleRefreshSubject>
typealias AppleAccessToken = Secret<AppleAccessSubject>

/// What Apple gives for a code (apple §2.4).
struct AppleGrant: Sendable {
    let accessToken: AppleAccessToken
    let refreshToken: AppleRefreshToken
    /// Compact JWS, unverified.
    let identityToken: String

    /// - Returns: `nil` when a part is missing.
    init?(_ answer: [UInt8]) {
        guard let members = JSONMembers(answer), let access = AppleGrant.token(members, "access_token"),
            members.string("token_type")?.lowercased() == "bearer", let refresh = AppleGrant.token(members, "refresh_token"),
            let identity = AppleGrant.token(members, "id_token")
        else { return nil }
        accessToken = AppleAccessToken(access)
        refreshToken = AppleRefreshToken(refresh)
        identityToken = identity
    }

    /// Bytes; no genuine token is longer.
    private static let longest = 8 * 1024

    static func token(_ members: JSONMembers, _ name: String) -> String? {
        members.string(name).flatMap { text in
            (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? text : nil
        }
    }
}
