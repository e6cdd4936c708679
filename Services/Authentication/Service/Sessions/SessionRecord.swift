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
    /// The registration code's record that it came through.
    let record: RegistrationRecordID
    let claims: DeviceClaims
    let clientID: ClientID
    /// The scrambled user id (rest-v1 §7).
    let userID: String
    let subject: UpstreamSubject
    let createdAt: Timestamp
    let expiresAt: Timestamp
}
