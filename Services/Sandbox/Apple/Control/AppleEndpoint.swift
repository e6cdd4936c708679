/// The endpoints that can be told to fail, by the names of the log.
enum AppleEndpoint: String, Sendable, Codable, CaseIterable {
    case keys, authorize, token, revoke, usermigrationinfo, update, delete
    /// A device's own framework: reading, changing and deleting the token, signing in.
    case device
}
