internal import Clocks
internal import Contracts

/// Whose session: a device at a requestor has one at a time (rest-v1 §5).
struct SessionKey: Hashable, Sendable {
    let device: DeviceID
    let requestor: RequestorID
}

/// An authn token as it is stored.
struct SessionRecord: Hashable, Sendable {
    let id: SessionID
    let key: SessionKey
    let mvpd: MvpdID
    /// The registration code's record that it came through; `nil` when it was made without a code.
    let record: RegistrationRecordID?
    let claims: DeviceClaims
    let clientID: ClientID
    /// The scrambled user id (rest-v1 §7).
    let userID: String
    var subject: UpstreamSubject
    let createdAt: Timestamp
    var expiresAt: Timestamp
    var origin: SessionOrigin
    /// When the attributes were last set.
    var updatedAt: Timestamp
    /// Of the registration code, or of the call that made the session.
    let device: DeviceInformation

    var kind: SessionKind { origin.kind }
}

/// How a session came about.
struct SessionOrigin: Hashable, Sendable {
    let kind: SessionKind
    /// When the person signed in, or the trial was asked for; taken over with a shared and with an automatic session.
    let authenticatedAt: Timestamp
    /// The rule that made a degraded session (rest-v1 §6.1).
    var rule: DegradationRuleID?
    /// The platform identity that the device had shown (rest-v1 §4.9).
    var identity: PlatformIdentity?
    /// The trial of a TempPass session (rest-v1 §6.2).
    var trial: TrialID?
    /// The session that holds the MVPD's tokens; set when the sign-in was by OAuth (mvpd §3).
    var upstream: SessionID?
}
