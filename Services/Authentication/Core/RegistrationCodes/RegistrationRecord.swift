internal import Clocks
internal import Contracts

/// What is known of the device that shows a registration code (rest-v1 §3.4).
struct RegistrationRecord: Hashable, Sendable {
    /// By how much the clock that makes or removes a code may be ahead of the one that asks for it.
    static let clockErrorMilliseconds: Int64 = 60_000

    let id: RegistrationRecordID
    let code: RegistrationCodeText
    let requestor: RequestorID
    /// Empty when the device named none.
    var mvpd: String
    let generatedAt: Timestamp
    var expiresAt: Timestamp
    let deviceID: DeviceID
    let device: DeviceInformation
    let userAgent: String
    let deviceType: String
    let claims: DeviceClaims
    /// Where a person types the code; empty: the gateway's own page.
    var registrationURL: String
    let clientID: ClientID
    /// True once a sign-in through the code has succeeded; it starts no other (rest-v1 §3.7).
    var isUsed = false
    /// Who the platform said that its user is (rest-v1 §2.6); the sign-in through the code is theirs.
    var identity: PlatformIdentity?
    /// Whom the device's service token named (rest-v2 §1.3); the sign-in through the code is theirs as well.
    var serviceIdentity: ServiceIdentity?
    /// When a sign-in through it succeeded; `nil` before.
    var usedAt: Timestamp?
    /// True: made by REST v2, where the sign-in's parameters gather here (rest-v2 §2.2); another of the same client's device ends it.
    var isPlan = false
    /// As it was sent; empty: not yet.
    var domainName = ""
    var redirectURL = ""
    /// Somebody ended it: such a code has ended before it was made, whichever clock is asked.
    var wasDeleted: Bool { expiresAt < generatedAt }
    /// Until when it is not given out again: its end, or that of the session that it made (clients §4.3).
    var keptUntil: Timestamp

    init(
        id: RegistrationRecordID, code: RegistrationCodeText, requestor: RequestorID, mvpd: String, generatedAt: Timestamp, expiresAt: Timestamp,
        deviceID: DeviceID, device: DeviceInformation, userAgent: String, deviceType: String, claims: DeviceClaims, registrationURL: String,
        clientID: ClientID, isUsed: Bool = false, identity: PlatformIdentity? = nil, serviceIdentity: ServiceIdentity? = nil
    ) {
        self.id = id
        self.code = code
        self.requestor = requestor
        self.mvpd = mvpd
        self.generatedAt = generatedAt
        self.expiresAt = expiresAt
        self.deviceID = deviceID
        self.device = device
        self.userAgent = userAgent
        self.deviceType = deviceType
        self.claims = claims
        self.registrationURL = registrationURL
        self.clientID = clientID
        self.isUsed = isUsed
        self.identity = identity
        self.serviceIdentity = serviceIdentity
        keptUntil = expiresAt
    }
}
