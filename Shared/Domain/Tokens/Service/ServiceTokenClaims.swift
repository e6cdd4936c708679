public import Clocks

/// Service tokens: a programmer's person, named to the apps of the programmer (rest-v2 §1.3, §2.14).
public enum ServiceTokens {
    /// `iss` of our own.
    public static let issuer = "ssoservicetoken"
    /// `aud` of everyone's; its letter case does not count.
    static let audience = "Adobe"
    /// The lifetime of our own tokens.
    public static let lifetime: Duration = .seconds(3600)
    /// For how long one of our own that is over can be exchanged for another: a television may be off for some days.
    public static let remembrance: Duration = .seconds(7 * 86_400)
}

/// The person of a service token whose signature, audience and time hold.
public struct ServiceTokenClaims: Hashable, Sendable {
    public var issuer: String
    public var subject: String
    /// One of our own: what ties it to the device that it was made for; `nil`: an identity service's.
    public var tie: String?
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp

    /// - Parameters:
    ///   - issuer: `iss`.
    ///   - subject: The issuer's id of the person.
    ///   - tie: A member of our own tokens: names the device's row.
    ///   - issuedAt: In whole seconds.
    ///   - expiresAt: In whole seconds.
    public init(issuer: String, subject: String, tie: String?, issuedAt: Timestamp, expiresAt: Timestamp) {
        self.issuer = issuer
        self.subject = subject
        self.tie = tie
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
