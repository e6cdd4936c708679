internal import Catalogue
internal import Contracts

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
    /// Who the platform says that its user is, if it says so credibly (rest-v1 §2.6).
    let identity: PlatformIdentity?
    /// Whom a service token names, if it does so credibly (rest-v2 §1.3).
    var serviceIdentity: ServiceIdentity?
    /// What the platform's framework told the app; `nil`: nothing was sent.
    var partner: PartnerStatus?

    var catalogue: Catalogue { client.catalogue }

    /// The same caller at a requestor.
    func at(_ requestor: RequestorID) -> DeviceCaller {
        DeviceCaller(
            client: client, requestor: requestor, device: device, information: information, userAgent: userAgent, deviceType: deviceType,
            claims: claims, identity: identity, serviceIdentity: serviceIdentity, partner: partner)
    }
}
