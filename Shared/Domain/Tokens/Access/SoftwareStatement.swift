/// The content of an application's software statement (RFC 7591 §2.3). It never expires but can be revoked by its id.
public struct SoftwareStatement: Hashable, Sendable {
    /// `software_id`: names the statement for revocation.
    public let softwareID: String
    /// The registered application, `sub`.
    public let applicationID: String
    /// `client_name`.
    public let applicationName: String

    public init(softwareID: String, applicationID: String, applicationName: String) {
        self.softwareID = softwareID
        self.applicationID = applicationID
        self.applicationName = applicationName
    }
}
