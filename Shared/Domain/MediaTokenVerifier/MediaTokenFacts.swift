internal import Octets
public import Clocks

/// The facts of a media token; trust them only after a check (rest-v1 §7).
public struct MediaTokenFacts: Hashable, Sendable {
    /// The user's scrambled id.
    public var sessionGUID: String
    public var requestor: String
    /// As the app asked for it.
    public var resource: String
    /// From issue to end, in whole milliseconds.
    public var ttl: Duration
    /// In whole seconds.
    public var issuedAt: Timestamp
    public var mvpd: String
    /// Set when the MVPD is reached through another one.
    public var proxyMvpd: String?

    /// - Parameters:
    ///   - sessionGUID: The user's scrambled id.
    ///   - requestor: Id of the requestor.
    ///   - resource: As the app asked for it.
    ///   - ttl: From issue to end, in whole milliseconds.
    ///   - issuedAt: In whole seconds.
    ///   - mvpd: Id of the MVPD.
    ///   - proxyMvpd: Id of the MVPD through which `mvpd` is reached; `nil`: it is reached directly.
    public init(
        sessionGUID: String, requestor: String, resource: String, ttl: Duration, issuedAt: Timestamp, mvpd: String, proxyMvpd: String? = nil
    ) {
        self.sessionGUID = sessionGUID
        self.requestor = requestor
        self.resource = resource
        self.ttl = ttl
        self.issuedAt = issuedAt
        self.mvpd = mvpd
        self.proxyMvpd = proxyMvpd
    }

    /// The first moment at which the token no longer counts.
    public var expiresAt: Timestamp { issuedAt + ttl }
}
