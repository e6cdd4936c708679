internal import Clocks

/// What a simulated Apple account knows of its TV provider.
struct PlatformAccount: Sendable, Equatable {
    /// Whether the app may ask for the person's subscription (`VSAccountAccessStatus`).
    enum Access: String, Sendable, Codable {
        case notDetermined, restricted, denied, granted
    }

    var access = Access.notDetermined
    /// The platform's own name of the provider at which the person is signed in; nil: at none.
    var provider: String?
    /// The provider's subscriber.
    var person = "ada"
    /// When the provider's login ends.
    var authenticatedUntil: Timestamp?
    /// What the person chooses when the platform may ask: a provider's name; nil: nothing, or "other provider".
    var pick: String?
    /// The error code with which every request for metadata ends (`VSError.Code`); nil: none.
    var error: Int?
    var flaw: PlatformFlaw?

    /// How long a login made in the platform's settings lasts.
    static let loginLifetime = Duration.seconds(30 * 24 * 3600)
}

extension PlatformAccount {
    /// Reads the state of an account; each key is optional and has the value above without it.
    /// - Parameter now: From when `authenticationSeconds` counts; they may be negative.
    init(json: [UInt8], now: Timestamp) throws(SettingsFault) {
        let message = try SettingsFault.decode(Message.self, from: json)
        access = message.access ?? .notDetermined
        provider = message.provider
        person = message.person ?? "ada"
        let seconds = message.authenticationSeconds ?? 86_400
        guard (-31_536_000...31_536_000).contains(seconds) else { throw SettingsFault(key: "authenticationSeconds", problem: "is more than a year") }
        authenticatedUntil = provider == nil ? nil : now + .seconds(seconds)
        pick = message.pick
        error = message.error
        flaw = message.flaw
    }

    private struct Message: Decodable {
        let access: Access?
        let provider: String?
        let person: String?
        let authenticationSeconds: Int?
        let pick: String?
        let error: Int?
        let flaw: PlatformFlaw?
    }
}
