public import Clocks

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
