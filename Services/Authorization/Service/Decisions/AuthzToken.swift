public import Clocks

/// A cached permit for one resource.
public struct AuthzToken: Hashable, Sendable {
    public var key: AuthzTokenKey
    public var mvpd: String
    /// Set when the MVPD is reached through another one.
    public var proxyMvpd: String?
    /// The first moment at which it no longer counts.
    public var expiresAt: Timestamp

    public init(key: AuthzTokenKey, mvpd: String, proxyMvpd: String? = nil, expiresAt: Timestamp) {
        self.key = key
        self.mvpd = mvpd
        self.proxyMvpd = proxyMvpd
        self.expiresAt = expiresAt
    }

    /// How long an expired token is remembered, so that "expired" differs from "none" (rest-v1 §5).
    public static let remembrance: Duration = .seconds(24 * 3600)
}
