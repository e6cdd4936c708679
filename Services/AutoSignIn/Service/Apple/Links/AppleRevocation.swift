internal import Cryptography
internal import FoundationEssentials

/// A letter to Apple that ends an authorization: the token stays sealed until it goes out.
struct AppleRevocation: Hashable, Sendable, Codable {
    let team: String
    let client: String
    /// Base64url of the sealed refresh token.
    let token: String

    init(team: AppleTeamID, client: AppleClientID, sealed: SealedBytes) {
        self.team = team.text
        self.client = client.text
        token = Base64.url.encode(sealed.bytes)
    }

    /// - Returns: `nil` when it is no such letter.
    init?(_ letter: OutboxLetter) {
        guard letter.kind == .revoke, let revocation = try? JSONDecoder().decode(Self.self, from: Data(letter.payload)) else { return nil }
        self = revocation
    }

    var sealed: SealedBytes? { Base64.url.decode(token).map { SealedBytes(bytes: $0) } }

    func letter(_ link: AppleLinkID) throws -> OutboxLetter {
        .revoke(link, SealedBytes(bytes: Array(try JSONEncoder().encode(self))))
    }
}
