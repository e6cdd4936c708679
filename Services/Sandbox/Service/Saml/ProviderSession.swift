internal import Clocks

/// What the provider's own cookie says: who signed in here, and when.
struct ProviderSession: Sendable, Codable, Equatable {
    let person: String
    let signedInAt: Timestamp
    /// The `SessionIndex` of the assertions that this session gives out.
    let index: String
    /// Nobody signed in: the provider knew the home by its address.
    var isHomeBased = false
}
