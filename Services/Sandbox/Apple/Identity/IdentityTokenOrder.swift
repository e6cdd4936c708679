internal import SandboxKit
internal import Clocks

/// The content that an identity token is to have (apple §2.3).
struct IdentityTokenOrder: Sendable {
    static let issuer = "https://appleid.apple.com"
    /// Seconds.
    static let lifetime: Int64 = 600

    let user: AppleUser
    /// `aud`.
    let client: String
    let team: String
    var nonce: String?
    var hidesEmail = false
    var authenticatedAt: Timestamp
    /// Told on the first use in an app only.
    var realUserStatus: Int?
    /// For `c_hash` and `at_hash`.
    var code: String?
    var accessToken: String?
    /// For 60 days after a transfer.
    var transferSubject: String?

    func claims(_ names: AppleNames, now: Timestamp) -> [String: JsonValue] {
        var claims: [String: JsonValue] = [
            "iss": .text(Self.issuer), "aud": .text(client), "sub": .text(names.subject(user.account, team: team)), "iat": .number(now.seconds),
            "exp": .number(now.seconds + Self.lifetime), "auth_time": .number(authenticatedAt.seconds),
        ]
        claims["transfer_sub"] = transferSubject.map { .text($0) }
        claims["real_user_status"] = realUserStatus.map { .number(Int64($0)) }
        claims["c_hash"] = code.map { .text(Self.half($0)) }
        claims["at_hash"] = accessToken.map { .text(Self.half($0)) }
        claims.merge(nonceClaims) { $1 }
        claims.merge(mailClaims(names)) { $1 }
        return claims
    }

    private var nonceClaims: [String: JsonValue] {
        switch user.nonce {
        case .supported: ["nonce_supported": .flag(true)].merging(nonce.map { ["nonce": .text($0)] } ?? [:]) { $1 }
        case .unsupported: ["nonce_supported": .flag(false)]
        case .dropped: ["nonce_supported": .flag(true)]
        case .unstated: [:]
        }
    }

    private func mailClaims(_ names: AppleNames) -> [String: JsonValue] {
        switch hidesEmail ? .relay : user.mail {
        case .real: ["email": .text(user.email), "email_verified": flag(user.isVerified)]
        case .relay:
            [
                "email": .text(names.relayAddress(user.account, team: team)), "email_verified": flag(user.isVerified),
                "is_private_email": flag(true),
            ]
        case .missing: [:]
        case .empty: ["email": .text("")]
        }
    }

    private func flag(_ value: Bool) -> JsonValue { user.flags == .text ? .text(value ? "true" : "false") : .flag(value) }

    /// The left half of the SHA-256 (OpenID Connect core §3.1.3.6).
    private static func half(_ text: String) -> String { Base64.urlText(Array(Digest.sha256(Array(text.utf8)).prefix(16))) }
}

/// An identity token with exactly the content that a test orders, and a code for it.
struct TokenOrder: Sendable, Decodable {
    let account: String
    let clientID: String
    let nonce: String?
    /// Over the token's own claims; null leaves one out.
    let claims: [String: JsonValue]?
    let header: [String: JsonValue]?
    let signature: TokenSignature?
    /// The key that signs, also one that is out of the set; absent: the current one.
    let kid: String?

    enum CodingKeys: String, CodingKey {
        case account, nonce, claims, header, signature, kid
        case clientID = "clientId"
    }

    struct Made: Encodable {
        let identityToken: String
        let code: String
    }

    func make(_ content: inout AppleMemory.Content, now: Timestamp) throws -> Made {
        guard let client = content.directory.client(clientID) else { throw SettingsFault(key: "clientId", problem: "belongs to no group") }
        let issue = try content.signIn(SignInOrder(account: account, client: client, nonce: nonce), now: now)
        let grant = content.ledger.codes[issue.code]?.grant
        guard let grant else { throw SettingsFault(key: "account", problem: "has no grant") }
        var order = content.tokenOrder(grant, client: client, nonce: nonce, now: now)
        order.code = issue.code
        let claims = order.claims(content.names, now: now).merging(claims ?? [:]) { $1 }
        let signature = signature ?? .good
        let text = try signature.token(claims, key: try key(&content, signature), header: header ?? [:])
        content.secrets.add(identityToken: text)
        return Made(identityToken: text, code: issue.code)
    }

    private func key(_ content: inout AppleMemory.Content, _ signature: TokenSignature) throws -> IdentityKeys.Key {
        if signature == .unpublished { return try content.keys.makeForeign(&content.octets) }
        guard let kid else { return content.keys.signing }
        guard let key = content.keys.key(kid) else { throw SettingsFault(key: "kid", problem: "is no key that was ever made") }
        return key
    }
}
