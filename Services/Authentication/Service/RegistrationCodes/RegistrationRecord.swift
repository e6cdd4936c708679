internal import Clocks
internal import Contracts

/// What is known of the device that shows a registration code (rest-v1 §3.4).
struct RegistrationRecord: Hashable, Sendable {
    let id: RegistrationRecordID
    let code: RegistrationCodeText
    let requestor: RequestorID
    /// Empty when the device named none.
    let mvpd: String
    let generatedAt: Timestamp
    let expiresAt: Timestamp
    let deviceID: DeviceID
    let device: DeviceInformation
    let userAgent: String
    let deviceType: String
    let claims: DeviceClaims
    /// Where a person types the code; empty: the gateway's own page.
    let registrationURL: String
    let clientID: ClientID
    /// True once a sign-in through the code has succeeded; it starts no other (rest-v1 §3.7).
    var isUsed = false
}

/// The deprecated `appId` and `deviceUser`: a later call that names another one finds no session (rest-v1 §2.5, §5).
struct DeviceClaims: Hashable, Sendable {
    var appID = ""
    var deviceUser = ""

    /// True when a call with these claims may see what was made with the `original` ones; an absent claim is not compared.
    func agree(with original: DeviceClaims) -> Bool {
        (appID.isEmpty || appID == original.appID) && (deviceUser.isEmpty || deviceUser == original.deviceUser)
    }
}
