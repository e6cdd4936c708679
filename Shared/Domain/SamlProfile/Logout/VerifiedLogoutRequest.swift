public import Clocks

/// An MVPD's logout request that passed every check. Only this module creates one.
public struct VerifiedLogoutRequest: Hashable, Sendable {
    public let id: String
    public let issuer: String
    public let nameID: NameID
    /// Empty: every session of the person.
    public let sessionIndexes: [String]
    /// Until when the ID has to be remembered; after it the request is refused for its age.
    public let expiresAt: Timestamp
}

/// How an MVPD answers a logout request of ours.
public enum LogoutAnswer: Hashable, Sendable {
    case complete
    /// Some of the person's other sessions could not be ended.
    case partial
    /// Status codes, outermost first.
    case failed(codes: [String])
}
