internal import SandboxKit
internal import Clocks

/// Consents, codes and tokens of Sign in with Apple. Pure: time and ids come from outside.
struct AuthorizationLedger: Sendable {
    private(set) var consents: [AppleConsent.Key: AppleConsent] = [:]
    private(set) var codes: [String: AuthorizationCode] = [:]
    private(set) var refreshTokens: [String: RefreshToken] = [:]
    private(set) var accessTokens: [String: AccessToken] = [:]
    /// A refresh token may be validated this often within a day; nil: no limit.
    var validationsPerDay: Int?

    /// Records the person's consent for a client.
    /// - Returns: True when it is the first time for the group, and for the client.
    mutating func consent(_ grant: AuthorizationGrant) -> (isFirstInGroup: Bool, isFirstInClient: Bool) {
        let key = AppleConsent.Key(group: grant.group, account: grant.account)
        let known = consents[key]
        var consent = known ?? AppleConsent(authorizedAt: grant.authenticatedAt, hidesEmail: grant.hidesEmail)
        let isFirst = consent.clients.insert(grant.client).inserted
        consents[key] = consent
        return (known == nil, isFirst)
    }

    mutating func add(_ code: AuthorizationCode, as text: String) { codes[text] = code }

    /// Takes a code (apple §2.4).
    mutating func redeem(_ text: String, client: String, redirectURI: String?, now: Timestamp) throws(AppleRejection) -> AuthorizationCode {
        guard let code = codes[text] else { throw AppleRejection(.invalidGrant, "the code is unknown") }
        guard code.grant.client == client else { throw AppleRejection(.invalidGrant, "the code is another client's") }
        guard !code.isUsed else { throw AppleRejection(.invalidGrant, "the code was used") }
        guard now < code.issuedAt + AuthorizationCode.lifetime else { throw AppleRejection(.invalidGrant, "the code is too old") }
        guard code.redirectURI == redirectURI else { throw AppleRejection(.invalidGrant, "the code came for another redirect_uri") }
        codes[text]?.isUsed = true
        return code
    }

    mutating func add(_ token: RefreshToken, as text: String) { refreshTokens[text] = token }
    mutating func add(_ token: AccessToken, as text: String) { accessTokens[text] = token }

    /// Validates a refresh token (apple §2.5).
    mutating func validate(_ text: String, client: String, now: Timestamp) throws(AppleRejection) -> AuthorizationGrant {
        guard var token = refreshTokens[text] else { throw AppleRejection(.invalidGrant, "the refresh token is unknown") }
        guard token.grant.client == client else { throw AppleRejection(.invalidGrant, "the refresh token is another client's") }
        guard !token.isRevoked else { throw AppleRejection(.invalidGrant, "the refresh token is revoked") }
        token.validations.removeAll { $0 + .seconds(86_400) <= now }
        token.validationCount += 1
        let isTooMuch = validationsPerDay.map { token.validations.count >= $0 } ?? false
        if !isTooMuch { token.validations.append(now) }
        refreshTokens[text] = token
        if isTooMuch { throw AppleRejection(.throttled, "the refresh token is validated too often") }
        return token.grant
    }

    /// Revokes a token, and with it the person's consent for the client (apple §2.5); an unknown token is already invalid.
    mutating func revoke(_ text: String, client: String) throws(AppleRejection) {
        let refresh = refreshTokens[text]
        let access = accessTokens[text]
        guard let owner = refresh?.grant.client ?? access?.client else { return }
        guard owner == client else { throw AppleRejection(.invalidGrant, "the token is another client's") }
        if access != nil { accessTokens[text]?.isRevoked = true }
        let person: AuthorizationGrant? = if case .person(let grant)? = access?.purpose { grant } else { refresh?.grant }
        guard let person, refresh?.isRevoked != true else { return }
        end { $0.account == person.account && $0.client == client }
        let key = AppleConsent.Key(group: person.group, account: person.account)
        let isOver = !refreshTokens.values.contains { !$0.isRevoked && $0.grant.group == person.group && $0.grant.account == person.account }
        if isOver { consents[key] = nil } else { consents[key]?.clients.remove(client) }
    }

    /// The person withdraws: from a group, or from all.
    mutating func withdraw(_ account: String, from group: String?) {
        end { $0.account == account && (group == nil || $0.group == group) }
        for key in consents.keys where key.account == account && (group == nil || key.group == group) { consents[key] = nil }
    }

    /// The team of an access token for migration.
    func migrationTeam(_ text: String, now: Timestamp) -> String? {
        guard let token = accessTokens[text], !token.isRevoked, now < token.expiresAt, case .migration(let team) = token.purpose else { return nil }
        return team
    }

    func consent(_ account: String, group: String) -> AppleConsent? { consents[AppleConsent.Key(group: group, account: account)] }

    private mutating func end(_ isMeant: (AuthorizationGrant) -> Bool) {
        for (text, token) in refreshTokens where isMeant(token.grant) { refreshTokens[text]?.isRevoked = true }
        for (text, token) in accessTokens {
            if case .person(let grant) = token.purpose, isMeant(grant) { accessTokens[text]?.isRevoked = true }
        }
    }
}

/// A person's authorization of a client.
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
        /// The migration of a team's users (apple §2.10).
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
