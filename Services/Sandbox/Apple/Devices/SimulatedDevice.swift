/// What a simulated device is.
struct SimulatedDevice: Sendable, Decodable, Equatable {
    enum Platform: String, Sendable, Decodable {
        case iOS, iPadOS, tvOS, macOS, visionOS

        /// Whether apps may ask for an opt-in and store values (apple §1.1).
        var storesValues: Bool { self == .iOS || self == .iPadOS || self == .tvOS }
    }

    let platform: Platform
    /// tvOS: the Apple Account of the system, which need not be the current one.
    let defaultAccount: String?

    init() { (platform, defaultAccount) = (.iOS, nil) }

    init(json: [UInt8]) throws(SettingsFault) {
        self = try SettingsFault.decode(SimulatedDevice.self, from: json)
        if defaultAccount != nil, platform != .tvOS { throw SettingsFault(key: "defaultAccount", problem: "is for tvOS only") }
    }
}
