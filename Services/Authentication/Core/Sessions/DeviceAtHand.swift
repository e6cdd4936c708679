internal import Clocks
internal import Contracts

/// The device that gets a session without anybody signing in: the caller, or the one that shows a registration code.
struct DeviceAtHand: Hashable, Sendable {
    let key: SessionKey
    let record: RegistrationRecordID?
    let claims: DeviceClaims
    let clientID: ClientID
    let information: DeviceInformation

    init(_ caller: DeviceCaller) {
        key = SessionKey(device: caller.device, requestor: caller.requestor)
        record = nil
        claims = caller.claims
        clientID = caller.client.id
        information = caller.information
    }

    init(_ record: RegistrationRecord) {
        key = SessionKey(device: record.deviceID, requestor: record.requestor)
        self.record = record.id
        claims = record.claims
        clientID = record.clientID
        information = record.device
    }

    /// A session of nobody whom an MVPD knows: its user is the device.
    func session(
        id: SessionID, mvpd: MvpdID, userID: String, createdAt: Timestamp, expiresAt: Timestamp, origin: SessionOrigin
    ) -> SessionRecord {
        let subject = UpstreamSubject(
            userID: userID, name: SubjectName(), isHomeBased: false, attributes: [UserAttribute(key: "userID", values: [userID])])
        return SessionRecord(
            id: id, key: key, mvpd: mvpd, record: record, claims: claims, clientID: clientID, userID: userID, subject: subject,
            createdAt: createdAt, expiresAt: expiresAt, origin: origin, updatedAt: createdAt, device: information)
    }
}
