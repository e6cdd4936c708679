/// A service provider's request to end a person's session, after the checks of ``LogoutReader``.
struct LogoutRequest: Sendable, Equatable {
    let identifier: String
    /// As sent, with or without the requestor's suffix.
    let issuer: String
    let reason: String?
    let nameID: String
    let nameIDFormat: String?
    let nameQualifier: String?
    let spNameQualifier: String?
    let sessionIndexes: [String]
    let relayState: String?
}

/// A service provider's answer to a request of the provider's own.
struct LogoutAnswer: Sendable, Equatable {
    let inResponseTo: String
    /// Without its prefix: `Success`.
    let status: String
    let relayState: String?
}
