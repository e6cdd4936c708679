internal import Clocks

/// A refresh token that Apple gave for one client id; validating and revoking it need that id (apple §2.5).
struct AppleGrantRecord: Hashable, Sendable {
    let link: AppleLinkID
    let client: AppleClientID
    /// Of apps.
    let group: String
    let sealed: SealedBytes
    var validatedAt: Timestamp
    var nextCheckAt: Timestamp
    /// Since when Apple does not say whether it stands.
    var unclearSince: Timestamp?

    /// For whom it is sealed.
    static func owner(_ link: AppleLinkID, _ client: AppleClientID) -> String { "\(link) \(client)" }

    static let sealedAs: StaticString = "refresh token"
}
