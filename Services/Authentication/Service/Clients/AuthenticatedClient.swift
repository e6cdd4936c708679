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

    /// The requestors that the application may act for.
    var requestors: [RequestorID] { application.requestorIDs.map(RequestorID.init) }

    func covers(_ requestor: RequestorID) -> Bool { application.requestorIDs.contains(requestor.text) }

    var contract: VerifiedClient {
        VerifiedClient(
            clientID: id.text, applicationID: application.id, scopes: scopes, requestorIDs: application.requestorIDs,
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds))
    }
}
