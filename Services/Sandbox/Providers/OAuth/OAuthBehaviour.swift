/// How an OAuth provider behaves, as tests set it.
struct OAuthBehaviour: Sendable, Equatable, Decodable {
    enum Mode: String, Sendable, Decodable {
        case none
        /// Never answers; ends when the caller leaves.
        case hang
        /// Answers 500.
        case error
        /// Answers 200 with broken JSON.
        case malformed
    }

    /// What is wrong with the `id_token`.
    enum Flaw: String, Sendable, Decodable {
        case none
        case wrongNonce
        case foreignAudience
        case foreignIssuer
        case expired
        /// `alg` is `none`, and there is no signature.
        case unsigned
        /// `alg` is HS256.
        case symmetric
        /// The key is not the one that `kid` names.
        case foreignKey
        /// There is no `id_token`.
        case absent
    }

    var mode: Mode? = Mode.none
    /// The endpoints with this mode: `token`, `userinfo`, `jwks`; absent: all of them.
    var endpoint: String?
    var identityToken: Flaw? = Flaw.none
    /// Whether a refresh token is good for one use and a new one comes with each access token.
    var rotatesRefreshTokens: Bool? = false
    /// Whether every refresh token is refused.
    var refusesRefreshTokens: Bool? = false
    /// Whether its answers name it (`iss`, RFC 9207).
    var sendsIssuer: Bool? = true
    /// Seconds that access tokens live.
    var accessTokenSeconds: Int? = 600

    init() {}

    private enum CodingKeys: String, CodingKey {
        case mode, endpoint, identityToken, rotatesRefreshTokens, refusesRefreshTokens, accessTokenSeconds, sendsIssuer
    }

    init(json: [UInt8]) throws(SettingsFault) {
        self = try SettingsFault.decode(OAuthBehaviour.self, from: json)
        if let endpoint, !["token", "userinfo", "jwks"].contains(endpoint) {
            throw SettingsFault(key: "endpoint", problem: "is none of token, userinfo and jwks")
        }
        if let seconds = accessTokenSeconds, !(1...86_400).contains(seconds) {
            throw SettingsFault(key: "accessTokenSeconds", problem: "is not from 1 to 86400")
        }
    }

    func mode(at endpoint: String) -> Mode { self.endpoint == nil || self.endpoint == endpoint ? mode ?? .none : .none }
}
