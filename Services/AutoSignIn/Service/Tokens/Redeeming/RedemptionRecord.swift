internal import Clocks
internal import Identifiers

/// That a device presented a value (apple §4); kept 90 days.
struct RedemptionRecord: Hashable, Sendable {
    let family: FamilyID
    let device: DeviceID
    /// Of the device's address, with a key.
    let address: Digest
    let outcome: Outcome
    let at: Timestamp

    enum Outcome: String, Hashable, Sendable {
        case accepted, revoked, replayed
    }

    static let memory: Duration = .seconds(90 * 86_400)
}
