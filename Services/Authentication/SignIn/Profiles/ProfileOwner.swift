internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import Contracts

/// Whose profiles REST v2 shows: of a client, on a device, at a requestor (rest-v2 §4).
struct ProfileOwner: Sendable {
    let client: ClientID
    let key: SessionKey
    let catalogue: Catalogue
    let platform: Platform

    init(_ caller: DeviceCaller) {
        client = caller.client.id
        key = SessionKey(device: caller.device, requestor: caller.requestor)
        catalogue = caller.catalogue
        platform = caller.information.platform
    }

    init(_ record: RegistrationRecord, in catalogue: Catalogue) {
        client = record.clientID
        key = SessionKey(device: record.deviceID, requestor: record.requestor)
        self.catalogue = catalogue
        platform = record.device.platform
    }

    /// Whether a rule lets everybody in at the MVPD now (rest-v1 §6.1).
    func isLetIn(at mvpd: Mvpd, now: Timestamp) -> Bool {
        catalogue.degradation(requestor: key.requestor.text, mvpd: mvpd.id, platform: platform, resource: nil, now: now) != nil
    }
}
