internal import Clocks

/// Which person has authorized which client.
struct AuthorizationGrant: Sendable, Equatable {
    let account: String
    let client: String
    let group: String
    let hidesEmail: Bool
    let authenticatedAt: Timestamp
}

/// A code, good for one use within five minutes (apple §2.4).
struct AuthorizationCode: Sendable {
    static let lifetime = Duration.seconds(300)

    let grant: AuthorizationGrant
    let nonce: String?
    /// nil for native ones.
    let redirectURI: String?
    let issuedAt: Timestamp
    var isUsed = false
}

struct RefreshToken: Sendable {
    let grant: AuthorizationGrant
    var isRevoked = false
    /// When it was validated, as far as the last day goes.
    var validations: [Timestamp] = []
    var validationCount = 0
}

struct AccessToken: Sendable {
    static let lifetime: Int64 = 3600

    enum Purpose: Sendable, Equatable {
        case person(AuthorizationGrant)
        /// Of the team (apple §2.10).
        case migration(team: String)
    }

    let purpose: Purpose
    let client: String
    let expiresAt: Timestamp
    var isRevoked = false
}

/// A person's consent to a group of apps (apple §2.8).
struct AppleConsent: Sendable, Equatable {
    struct Key: Hashable, Sendable {
        let group: String
        let account: String
    }

    var authorizedAt: Timestamp
    var hidesEmail: Bool
    /// Clients that the person has used since.
    var clients: Set<String> = []
}
