public import Clocks
public import Faults
internal import Cryptography
internal import FoundationEssentials

/// A bearer as it is handed to a client; the token itself prints as `[hidden]`.
public struct IssuedAccessToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// Compact JWS; opaque to clients.
    public let token: String
    /// `jti`.
    public let id: String
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp

    public var description: String { "[hidden]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a verified access token says (rest-v1 §2.2).
public struct AccessTokenClaims: Hashable, Sendable {
    /// `sub`.
    public let clientID: String
    /// `jti`.
    public let id: String
    public let scopes: [String]
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
}

/// The claims as they stand in the JWT.
struct AccessTokenPayload: Codable {
    /// RFC 9068 §2.1.
    static let type = "at+jwt"

    var sub: String
    var iss: String
    var aud: String
    // Seconds since 1970.
    var iat: Int64
    var nbf: Int64
    var exp: Int64
    var jti: String
    // Separated by blanks.
    var scopes: String
}

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
    ///   - audience: `aud`, what the token opens.
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

/// Checks access tokens of this deployment; says nothing of whether the client still lives.
public struct AccessTokenVerifier: Sendable {
    /// How far another copy's clock may be ahead.
    static let clockTolerance: Int64 = 60

    private let keys: SigningKeys
    private let issuer: String
    private let audience: String
    private let clock: any WallClock

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

enum ClaimTime {
    /// The end of the year 9999 in seconds since 1970; keeps arithmetic with claims away from overflow.
    static let latest: Int64 = 253_402_300_799
}
