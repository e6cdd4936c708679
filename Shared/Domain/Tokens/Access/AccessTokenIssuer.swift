public import Clocks
internal import Cryptography
public import Faults

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

/// The claims of a verified access token (rest-v1 §2.2).
public struct AccessTokenClaims: Hashable, Sendable {
    /// `sub`.
    public let clientID: String
    /// `jti`.
    public let id: String
    public let scopes: [String]
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
}

/// Makes software statements: JWS, ES256.
public struct SoftwareStatementIssuer: Sendable {
    private let keys: SigningKeys
    private let issuer: String
    private let clock: any WallClock

    /// - Parameter issuer: `iss`, a name of this deployment.
    public init(keys: SigningKeys, issuer: String, clock: any WallClock = SystemClock()) {
        self.keys = keys
        self.issuer = issuer
        self.clock = clock
    }

    /// - Throws: `internal` when the key cannot sign.
    public func issue(_ statement: SoftwareStatement) throws(Fault) -> String {
        let payload = SoftwareStatementPayload(
            softwareID: statement.softwareID, sub: statement.applicationID, clientName: statement.applicationName, iss: issuer,
            jti: Base64.url.encode(SecureRandom.bytes(16)), iat: clock.now().seconds)
        do {
            return try CompactJWS.sign(payload, type: SoftwareStatementPayload.type, key: keys.ring.current)
        } catch {
            throw .unexpected(error)
        }
    }
}

struct SoftwareStatementPayload: Encodable {
    static let type = "software-statement+jwt"
    // Statements made elsewhere carry the general type or none.
    static let acceptedTypes: Set<String?> = [type, "jwt", nil]

    var softwareID: String
    var sub: String?
    var clientName: String?
    var iss: String?
    var jti: String?
    // Seconds since 1970.
    var iat: Int64?

    enum CodingKeys: String, CodingKey {
        case softwareID = "software_id"
        case sub
        case clientName = "client_name"
        case iss, jti, iat
    }
}

extension SoftwareStatementPayload: TokenClaims {
    init(_ claims: TokenObject) throws(TokenRejection) {
        softwareID = try claims.required("software_id")
        sub = try claims.text("sub")
        clientName = try claims.text("client_name")
        iss = try claims.text("iss")
        jti = try claims.text("jti")
        iat = try claims.instant("iat")
    }
}
