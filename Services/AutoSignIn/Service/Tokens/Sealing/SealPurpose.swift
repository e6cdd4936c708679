/// The purpose of a key of this service; no key serves two purposes.
struct SealPurpose: Hashable, Sendable {
    let name: String

    /// Seals the values of Automatic Sign-In.
    static let values = SealPurpose(name: "boxoffice autosignin values")
    /// Compares the secrets of values.
    static let comparison = SealPurpose(name: "boxoffice autosignin comparison")
    /// Seals answers that are kept for a repeated call.
    static let answers = SealPurpose(name: "boxoffice autosignin answers")
    /// Seals what goes to Apple later.
    static let outbox = SealPurpose(name: "boxoffice autosignin outbox")
    /// Hashes the addresses of devices.
    static let addresses = SealPurpose(name: "boxoffice autosignin addresses")
    /// Seals Apple's refresh tokens.
    static let appleTokens = SealPurpose(name: "boxoffice autosignin apple tokens")
    /// Seals tickets of Sign in with Apple.
    static let tickets = SealPurpose(name: "boxoffice autosignin tickets")
}
