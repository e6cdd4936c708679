public import Clocks
public import Faults
internal import Cryptography

/// Makes access tokens: JWT, ES256.
public struct AccessTokenIssuer: Sendable {
    /// Default lifetime (rest-v1 §3.2).
    public static let defaultLifetime: Duration = .seconds(21_600)

    private let keys: SigningKeys
    private let issuer: String
    private let audience: String
    private let lifetime: Duration
    private let clock: any WallClock

    /// - Parameters:
    ///   - issuer: `iss`, a name of this deployment.
    ///   - audience: `aud`, the API that the token is for.
    ///   - lifetime: 1 s to 24 h (rest-v1 §5), whole seconds.
    public init(
        keys: SigningKeys, issuer: String, audience: String, lifetime: Duration = Self.defaultLifetime, clock: any WallClock = SystemClock()
    ) {
        precondition(lifetime >= .seconds(1) && lifetime <= .seconds(86_400), "an access token lives for 1 s to 24 h")
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
        self.lifetime = lifetime
        self.clock = clock
    }

    /// - Throws: `internal` when the key cannot sign.
    public func issue(client: String, scopes: [String]) throws(Fault) -> IssuedAccessToken {
        let now = clock.now()
        let expiry = now.seconds + lifetime.components.seconds
        let id = Base64.url.encode(SecureRandom.bytes(16))
        let payload = AccessTokenPayload(
            sub: client, iss: issuer, aud: audience, iat: now.seconds, nbf: now.seconds, exp: expiry, jti: id,
            scopes: scopes.joined(separator: " "))
        do {
            let token = try CompactJWS.sign(payload, type: AccessTokenPayload.type, key: keys.ring.current)
            return IssuedAccessToken(token: token, id: id, issuedAt: now, expiresAt: Timestamp(seconds: expiry))
        } catch {
            throw .unexpected(error)
        }
    }
}
