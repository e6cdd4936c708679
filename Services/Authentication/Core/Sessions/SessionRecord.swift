internal import Clocks
internal import Contracts

/// Whose session: a device at a requestor has one at a time (rest-v1 §5).
struct SessionKey: Hashable, Sendable {
    let device: DeviceID
    let requestor: RequestorID
}

/// An authn token as it is stored. Its many fields are one reference: it is handed on a dozen times for each check.
struct SessionRecord: Sendable {
    private struct Fields: Hashable {
        let id: SessionID
        let key: SessionKey
        let mvpd: MvpdID
        let record: RegistrationRecordID?
        let claims: DeviceClaims
        let clientID: ClientID
        var userID: String
        var subject: UpstreamSubject
        let createdAt: Timestamp
        var expiresAt: Timestamp
        var origin: SessionOrigin
        var updatedAt: Timestamp
        let device: DeviceInformation
    }

    private final class Box: Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var box: Box

    init(
        id: SessionID, key: SessionKey, mvpd: MvpdID, record: RegistrationRecordID?, claims: DeviceClaims, clientID: ClientID, userID: String,
        subject: UpstreamSubject, createdAt: Timestamp, expiresAt: Timestamp, origin: SessionOrigin, updatedAt: Timestamp, device: DeviceInformation
    ) {
        box = Box(
            Fields(
                id: id, key: key, mvpd: mvpd, record: record, claims: claims, clientID: clientID, userID: userID, subject: subject,
                createdAt: createdAt, expiresAt: expiresAt, origin: origin, updatedAt: updatedAt, device: device))
    }

    var id: SessionID { box.fields.id }
    var key: SessionKey { box.fields.key }
    var mvpd: MvpdID { box.fields.mvpd }
    /// The registration code's record that it came through; `nil` when it was made without a code.
    var record: RegistrationRecordID? { box.fields.record }
    var claims: DeviceClaims { box.fields.claims }
    var clientID: ClientID { box.fields.clientID }
    /// The scrambled user id (rest-v1 §7).
    var userID: String { box.fields.userID }
    var createdAt: Timestamp { box.fields.createdAt }
    /// Of the registration code, or of the call that made the session.
    var device: DeviceInformation { box.fields.device }

    var subject: UpstreamSubject {
        get { box.fields.subject }
        set { change { $0.subject = newValue } }
    }
    var expiresAt: Timestamp {
        get { box.fields.expiresAt }
        set { change { $0.expiresAt = newValue } }
    }
    var origin: SessionOrigin {
        get { box.fields.origin }
        set { change { $0.origin = newValue } }
    }
    /// When the attributes were last set.
    var updatedAt: Timestamp {
        get { box.fields.updatedAt }
        set { change { $0.updatedAt = newValue } }
    }

    /// The same with another user id; `nil`: as it is.
    func known(as userID: String?) -> SessionRecord {
        guard let userID else { return self }
        var record = self
        record.change { $0.userID = userID }
        return record
    }

    private mutating func change(_ body: (inout Fields) -> Void) {
        var fields = box.fields
        body(&fields)
        box = Box(fields)
    }

    var kind: SessionKind { origin.kind }
}

extension SessionRecord: Hashable {
    static func == (one: SessionRecord, other: SessionRecord) -> Bool { one.box === other.box || one.box.fields == other.box.fields }

    func hash(into hasher: inout Hasher) { hasher.combine(box.fields) }
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
    /// Whom the device's service token had named (rest-v2 §5 J).
    var serviceIdentity: ServiceIdentity?
    /// The session that holds the MVPD's tokens; set when the sign-in was by OAuth (mvpd §3).
    var upstream: SessionID?
}
