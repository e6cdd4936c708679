package import Catalogue
package import Clocks
package import Contracts

/// Who sent a valid access token.
package struct AuthenticatedClient: Sendable {
    package let id: ClientID
    /// As it stands in the catalogue now.
    package let application: Application
    package let scopes: [String]
    package let expiresAt: Timestamp
    /// The version that the check was made against; the rest of the call uses the same.
    package let catalogue: Catalogue
    /// True: all installations of the app are this client, so that it proves the app and never a device (clients §2).
    package var isShared = false
    /// Those of the application's requestors that a key pair signs for; `nil`: all.
    var signsFor: [String]?

    /// The requestors that it may act for.
    package var requestors: [RequestorID] { (signsFor ?? application.requestorIDs).map(RequestorID.init) }

    func covers(_ requestor: RequestorID) -> Bool { requestors.contains(requestor) }

    package var contract: VerifiedClient {
        VerifiedClient(
            clientID: id.text, applicationID: application.id, scopes: scopes, requestorIDs: requestors.map(\.text),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), isShared: isShared)
    }
}

/// A device's call whose sender, requestor, device and device information have been checked, in that order (rest-v1 §2.8).
package struct DeviceCaller: Sendable {
    package let client: AuthenticatedClient
    /// Empty only where a call may lack it.
    package let requestor: RequestorID
    package let device: DeviceID
    package let information: DeviceInformation
    package let userAgent: String
    package let deviceType: String
    package let claims: DeviceClaims
    /// Who the platform says that its user is, if it says so credibly (rest-v1 §2.6).
    package let identity: PlatformIdentity?
    /// Whom a service token names, if it does so credibly (rest-v2 §1.3).
    package var serviceIdentity: ServiceIdentity?
    /// What the platform's framework told the app; `nil`: nothing was sent.
    package var partner: PartnerStatus?

    package var catalogue: Catalogue { client.catalogue }

    /// The same caller at a requestor.
    package func at(_ requestor: RequestorID) -> DeviceCaller {
        DeviceCaller(
            client: client, requestor: requestor, device: device, information: information, userAgent: userAgent, deviceType: deviceType,
            claims: claims, identity: identity, serviceIdentity: serviceIdentity, partner: partner)
    }
}

/// What a call proves its sender with: a bearer, or a signature of its own; and for which API.
package struct Credentials: Sendable {
    package let accessToken: String
    package let signed: SignedRequest?
    package let api: ApiVersion

    package init(accessToken: String, signed: SignedRequest? = nil, api: ApiVersion = .v1) {
        self.accessToken = accessToken
        self.signed = signed
        self.api = api
    }

    package var isEmpty: Bool { accessToken.isEmpty && signed == nil }
}

extension DeviceCall {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension VerifyAccessTokenRequest {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension RegistrationCodeRequest {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension SessionByCodeRequest {
    package var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}
