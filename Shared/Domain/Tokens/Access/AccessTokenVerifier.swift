public import Clocks

/// Checks access tokens of this deployment; does not check that the client still exists.
public struct AccessTokenVerifier: Sendable {
    /// Another copy's clock may be ahead this far.
    static let clockTolerance: Int64 = 60

    private let keys: SigningKeys
    private let issuer: String
    private let audience: String
    private let clock: any WallClock

    /// - Parameters:
    ///   - keys: Verify the signature; they may be replaced while the verifier works.
    ///   - issuer: The only `iss` that is accepted.
    ///   - audience: The only `aud` that is accepted.
    ///   - clock: Decides what has expired; a token may be dated up to 60 seconds ahead.
    public init(keys: SigningKeys, issuer: String, audience: String, clock: any WallClock = SystemClock()) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
        self.clock = clock
    }

    /// - Throws: The first reason found, in the order form, type, key, signature, issuer, audience, time.
    public func verify(_ token: String) throws(TokenRejection) -> AccessTokenClaims {
        let jws = try UnverifiedJWS(token)
        let claims = try jws.verified(as: AccessTokenPayload.self, types: [AccessTokenPayload.type], keys: keys.keySet)
        guard claims.iss == issuer else { throw .wrongIssuer }
        guard claims.aud == audience else { throw .wrongAudience }
        let possible = 0...ClaimTime.latest
        guard possible.contains(claims.iat), possible.contains(claims.exp) else { throw .malformed }
        let now = clock.now().seconds
        guard claims.nbf <= now + Self.clockTolerance else { throw .notYetValid }
        guard now < claims.exp else { throw .expired }
        return AccessTokenClaims(
            clientID: claims.sub, id: claims.jti, scopes: claims.scopes.split(separator: " ").map(String.init),
            issuedAt: Timestamp(seconds: claims.iat), expiresAt: Timestamp(seconds: claims.exp))
    }
}
