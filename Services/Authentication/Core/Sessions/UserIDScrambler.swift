internal import Cryptography

/// Turns the MVPD's id of a person into the one that programmers see (rest-v1 §7). When its key changes, a session keeps the id that it began with
/// (Shared/Documents/Decisions/0052).
struct UserIDScrambler: Sendable {
    private let keys: SymmetricKeyRing
    private var key: SymmetricKey { keys.current }

    init(key: SymmetricKey) { self.init(keys: SymmetricKeyRing(current: key)) }

    init(keys: SymmetricKeyRing) { self.keys = keys }

    /// Lower-case hex of HMAC-SHA-256(key, mvpd ‖ 0x00 ‖ upstream id): the same at every requestor, as long as the key is.
    func scramble(_ upstreamUserID: String, mvpd: MvpdID) -> String {
        let input = Array(mvpd.text.utf8) + [0] + Array(upstreamUserID.utf8)
        return Hex.encode(HMACSHA256.authenticate(input, key: key))
    }

    /// Stands for the person at a device whose MVPD is bypassed; apps know such ids by their beginning (rest-v1 §6.1).
    func degraded(_ device: DeviceID) -> String { "95cf93bcd183214a" + digest(of: device) }

    /// Stands for the person at a device that is on trial (rest-v1 §6.2).
    func tempPass(_ device: DeviceID) -> String { "temppass_" + digest(of: device) }

    /// Stands for a device before callers that may tell devices apart and no more: 64 lower-case hex digits, others at each requestor.
    func hidden(_ device: DeviceID, requestor: RequestorID) -> String {
        Hex.encode(HMACSHA256.authenticate([0, 0] + Array(requestor.text.utf8) + [0] + Array(device.text.utf8), key: key))
    }

    /// The id of a device whose app made a fingerprint up: the same for the same application and fingerprint, and of no use to whoever lacks the key (clients §3).
    func device(_ fingerprint: String, application: String) -> DeviceID {
        DeviceID(Hex.encode(HMACSHA256.authenticate([0, 1] + Array(application.utf8) + [0] + Array(fingerprint.utf8), key: key)))
    }

    /// Stands for a device in a token that its app keeps.
    func fingerprint(_ device: DeviceID) -> String { Hex.encode(HMACSHA256.authenticate([0, 2] + Array(device.text.utf8), key: key)) }

    /// 40 hex digits. No MVPD has an empty id, so no input of `scramble` begins with 0x00.
    private func digest(of device: DeviceID) -> String {
        Hex.encode(HMACSHA256.authenticate([0] + Array(device.text.utf8), key: key).prefix(20))
    }
}
