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
    let mvpd: String
    let generatedAt: Timestamp
    var expiresAt: Timestamp
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
    /// Who the platform said that its user is (rest-v1 §2.6); the sign-in through the code is theirs.
    var identity: PlatformIdentity?
    /// When a sign-in through it succeeded; `nil` before.
    var usedAt: Timestamp?
}
