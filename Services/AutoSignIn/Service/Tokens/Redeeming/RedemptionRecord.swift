internal import Clocks
internal import Identifiers

/// The record that a device presented a value (apple §4); kept 90 days.
struct RedemptionRecord: Hashable, Sendable {
    let family: FamilyID
    let device: DeviceID
    /// The digest of the device's address, made with a key.
    let address: Digest
    let outcome: Outcome
    let at: Timestamp

    enum Outcome: String, Hashable, Sendable {
        case accepted, revoked, replayed
    }

    static let memory: Duration = .seconds(90 * 86_400)
}
