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

/// The person as the MVPD named them (mvpd §2.4); never printed.
struct UpstreamSubject: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The raw user id: NameID, or the attribute that the endpoint names instead.
    let userID: String
    /// What a later logout has to send back (mvpd §2.7).
    let name: SubjectName
    let isHomeBased: Bool
    let attributes: [UserAttribute]

    var description: String { "[hidden]" }
    var debugDescription: String { "[hidden]" }
}

/// The NameID with its qualifiers and the MVPD's own session.
struct SubjectName: Hashable, Sendable {
    var value = ""
    var format = ""
    var nameQualifier = ""
    var serviceProviderQualifier = ""
    var sessionIndex = ""
}
