/// What the MVPD's page remembers about the session that a login is for.
struct PendingLogin: Sendable, Codable {
    static let purpose = "upstream-login"

    let serviceProvider: String
    let code: String
    /// The session's id: a code may be given out again.
    let session: String
    let mvpd: String
    /// Where a cancelled or late login leads.
    let redirectURL: String
}
