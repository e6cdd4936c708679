internal import Clocks

/// The content of the provider's own cookie: who signed in here, and when.
struct ProviderSession: Sendable, Codable, Equatable {
    let person: String
    let signedInAt: Timestamp
    /// The `SessionIndex` of the assertions that this session gives out.
    let index: String
    /// True when the provider identified the home by its address, without a login.
    var isHomeBased = false
}
