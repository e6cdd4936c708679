public import Clocks

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
