/// The operations of a REST v2 server (rest-v2 §2), by the names that the stand-in's log and faults have for them.
enum UpstreamOperation: String, Sendable, Codable, CaseIterable {
    /// `/o/client/…`
    case register, token
    case configuration
    case createSession, resumeSession, readSession
    /// What browsers open: the start of a login, the MVPD's page, its logout.
    case authenticate, signIn, mvpdLogout
    case profiles, profile, profileByCode
    case authorize, preauthorize
    case logout
    case partnerSession, partnerProfile
    case resetTempPass, resetTempPassByIdentity

    /// Whether people's browsers call it: its errors are pages (rest-v2 §2.5).
    var isForBrowsers: Bool { self == .authenticate || self == .signIn || self == .mvpdLogout }
}
