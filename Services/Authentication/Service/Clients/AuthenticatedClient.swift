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

/// A device's call whose sender, requestor, device and device information have been checked, in that order (rest-v1 §2.8).
struct DeviceCaller: Sendable {
    let client: AuthenticatedClient
    /// Empty only where a call may lack it.
    let requestor: RequestorID
    let device: DeviceID
    let information: DeviceInformation
    let userAgent: String
    let deviceType: String
    let claims: DeviceClaims

    var catalogue: Catalogue { client.catalogue }
}
