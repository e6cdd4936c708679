internal import Clocks

/// What an identity token is to say (apple §2.3).
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

    func claims(_ names: AppleNames, now: Timestamp) -> [String: AppleClaim] {
        var claims: [String: AppleClaim] = [
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

    private var nonceClaims: [String: AppleClaim] {
        switch user.nonce {
        case .supported: ["nonce_supported": .flag(true)].merging(nonce.map { ["nonce": .text($0)] } ?? [:]) { $1 }
        case .unsupported: ["nonce_supported": .flag(false)]
        case .dropped: ["nonce_supported": .flag(true)]
        case .unstated: [:]
        }
    }

    private func mailClaims(_ names: AppleNames) -> [String: AppleClaim] {
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

    private func flag(_ value: Bool) -> AppleClaim { user.flags == .text ? .text(value ? "true" : "false") : .flag(value) }

    /// The left half of the SHA-256 (OpenID Connect core §3.1.3.6).
    private static func half(_ text: String) -> String { Base64.urlText(Array(Digest.sha256(Array(text.utf8)).prefix(16))) }
}
