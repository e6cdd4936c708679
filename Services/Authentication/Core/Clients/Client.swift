internal import Clocks

/// A registered client: one installation of an application (rest-v1 §3.1). Never changes after it is stored.
struct Client: Hashable, Sendable {
    let id: ClientID
    let secretDigest: SecretDigest
    /// The software statement that it came with; the catalogue says whether that still counts.
    let softwareID: SoftwareID
    /// Empty when none was sent.
    let redirectURI: String
    let issuedAt: Timestamp
}
