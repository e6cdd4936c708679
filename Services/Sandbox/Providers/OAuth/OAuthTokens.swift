internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

/// The tokens that an OAuth provider gives out (RFC 6749 §5.1, OpenID Connect Core §2).
struct OAuthTokens {
    let provider: OAuthProvider
    let now: Timestamp

    struct Answer: Encodable {
        let accessToken: String
        let tokenType = "Bearer"
        let expiresIn: Int
        let refreshToken: String?
        let identityToken: String?
        let scope: String?

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
            case refreshToken = "refresh_token"
            case identityToken = "id_token"
            case scope
        }
    }

    func answer(to code: OAuthCode) throws -> Answer {
        let grant = OAuthGrant(
            person: code.person, client: code.request.client, isHome: code.isHome, family: code.identifier, generation: 0,
            identifier: RandomIdentifier.next())
        let isAbsent = provider.memory.behaviour.identityToken == .absent || !code.request.scope.split(separator: " ").contains("openid")
        return Answer(
            accessToken: try access(grant), expiresIn: lifetime, refreshToken: try refresh(grant),
            identityToken: isAbsent ? nil : try identityToken(code), scope: code.request.scope)
    }

    /// - Returns: nil when the refresh token is not good any more.
    func answer(to grant: OAuthGrant) throws -> Answer? {
        guard let generation = provider.memory.refresh(grant) else { return nil }
        let fresh = OAuthGrant(
            person: grant.person, client: grant.client, isHome: grant.isHome, family: grant.family, generation: generation,
            identifier: RandomIdentifier.next())
        return Answer(
            accessToken: try access(fresh), expiresIn: lifetime,
            refreshToken: generation == grant.generation ? nil : try refresh(fresh), identityToken: nil, scope: nil)
    }

    /// The provider's claims about a person; claims that say the same in SAML have the same names (mvpd §2.5).
    func claims(of person: Person, isHome: Bool) -> [String: JsonClaim] {
        let subscribers = provider.identity.subscribers
        var claims: [String: JsonClaim] = ["sub": .text(subscribers.persistentName(of: person))]
        for (name, values) in SubscriberAttributes(person: person, subscribers: subscribers, isHomeBased: isHome).all {
            switch name {
            case "zip", "channelID": claims[name] = .list(values)
            case "maxRating": break
            default: claims[name] = .text(values[0])
            }
        }
        claims["maxRating"] = .object([
            "MPAA": person.maximumFilmRating ?? "NC-17", "VCHIP": person.maximumTelevisionRating ?? "TV-MA",
        ])
        claims["hba_status"] = .flag(isHome)
        return claims
    }

    private var lifetime: Int { provider.memory.behaviour.accessTokenSeconds ?? 600 }

    private func access(_ grant: OAuthGrant) throws -> String {
        try provider.identity.seal.close(grant, purpose: "oauth-access", until: now + .seconds(lifetime))
    }

    private func refresh(_ grant: OAuthGrant) throws -> String {
        try provider.identity.seal.close(grant, purpose: "oauth-refresh", until: now + OAuthProvider.refreshLifetime)
    }

    private func identityToken(_ code: OAuthCode) throws -> String {
        let flaw = provider.memory.behaviour.identityToken ?? .none
        guard let person = provider.identity.subscribers.person(named: code.person) else { return "" }
        let issuedAt = now.seconds - (flaw == .expired ? 3600 : 0)
        var claims = claims(of: person, isHome: code.isHome)
        claims["iss"] = .text(flaw == .foreignIssuer ? "https://stranger.example" : provider.issuer)
        claims["aud"] = .text(flaw == .foreignAudience ? "stranger" : code.request.client)
        claims["iat"] = .number(issuedAt)
        claims["exp"] = .number(issuedAt + OAuthProvider.identityTokenLifetime)
        claims["nonce"] = code.request.nonce.map { .text(flaw == .wrongNonce ? "another" : $0) }
        return try signed(claims, flaw)
    }

    private func signed(_ claims: [String: JsonClaim], _ flaw: OAuthBehaviour.Flaw) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let key = provider.currentKey
        let algorithm = flaw == .unsigned ? "none" : flaw == .symmetric ? "HS256" : "RS256"
        let header = #"{"alg":"\#(algorithm)","kid":"\#(key.identifier)","typ":"JWT"}"#
        let input = Base64.urlText(Array(header.utf8)) + "." + Base64.urlText(Array(try encoder.encode(claims)))
        return input + "." + Base64.urlText(try signature(Array(input.utf8), key, flaw))
    }

    private func signature(_ input: [UInt8], _ key: OAuthSigningKey, _ flaw: OAuthBehaviour.Flaw) throws -> [UInt8] {
        switch flaw {
        case .unsigned: []
        case .symmetric: try key.key.authenticationCode(of: input, purpose: "symmetric")
        case .foreignKey: try (provider.keys.first { $0.identifier != key.identifier } ?? key).key.sign(Array(input.reversed()))
        default: try key.key.sign(input)
        }
    }
}

/// The value of a claim.
enum JsonClaim: Encodable, Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([String])
    case object([String: String])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
