internal import Catalogue
internal import Clocks
internal import Contracts

/// Who sent a valid access token.
struct AuthenticatedClient: Sendable {
    let id: ClientID
    /// As it stands in the catalogue now.
    let application: Application
    let scopes: [String]
    let expiresAt: Timestamp
    /// The version that the check was made against; the rest of the call uses the same.
    let catalogue: Catalogue
    /// True: all installations of the app are this client, so that it proves the app and never a device (clients §2).
    var isShared = false
    /// Those of the application's requestors that a key pair signs for; `nil`: all.
    var signsFor: [String]?

    /// The requestors that it may act for.
    var requestors: [RequestorID] { (signsFor ?? application.requestorIDs).map(RequestorID.init) }

    func covers(_ requestor: RequestorID) -> Bool { requestors.contains(requestor) }

    var contract: VerifiedClient {
        VerifiedClient(
            clientID: id.text, applicationID: application.id, scopes: scopes, requestorIDs: requestors.map(\.text),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), isShared: isShared)
    }
}
