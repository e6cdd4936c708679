public import Clocks

/// A cached permit for one resource.
public struct AuthzToken: Hashable, Sendable {
    public var key: AuthzTokenKey
    public var mvpd: String
    /// Set when the MVPD is reached through another one.
    public var proxyMvpd: String?
    /// The first moment at which it no longer counts.
    public var expiresAt: Timestamp
    /// The degradation rule that permitted in the MVPD's place; the token ends with it (rest-v1 §6.1).
    public var degradationRule: String?

    public init(key: AuthzTokenKey, mvpd: String, proxyMvpd: String? = nil, expiresAt: Timestamp, degradationRule: String? = nil) {
        self.key = key
        self.mvpd = mvpd
        self.proxyMvpd = proxyMvpd
        self.expiresAt = expiresAt
        self.degradationRule = degradationRule
    }

    /// How long an expired token is remembered, so that "expired" differs from "none" (rest-v1 §5).
    public static let remembrance: Duration = .seconds(24 * 3600)
}

extension AuthzToken {
    /// Whether it counts now, for a session at that MVPD.
    func counts(at now: Timestamp, mvpd: String, _ degradation: Degradation) -> Bool {
        self.mvpd == mvpd && now < expiresAt && degradationRule.map(degradation.upholds) != false
    }
}
