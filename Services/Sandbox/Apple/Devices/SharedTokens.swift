internal import SandboxKit
internal import Clocks

/// Apple keeps a value in one of these places (apple §1.3).
enum AppleStore: String, Sendable, Codable {
    case production, sandbox
}

/// The tokens of all apps on all Apple Accounts, in two independent stores.
struct SharedTokens: Sendable {
    struct Key: Hashable, Sendable {
        let store: AppleStore
        let account: String
        let bundleID: String
    }

    /// A change takes this long to reach other devices.
    var syncDelay = Duration.zero
    var devices: [String: SimulatedDevice] = [:]
    private(set) var records: [Key: AutoSignInStateMachine] = [:]

    subscript(key: Key) -> AutoSignInStateMachine {
        get { records[key] ?? AutoSignInStateMachine() }
        set { records[key] = newValue }
    }

    func device(_ name: String) -> SimulatedDevice { devices[name] ?? SimulatedDevice() }

    /// The token that an app on a device reads, and the account that it is from (A11, A12).
    func reading(_ key: Key, on device: String, at now: Timestamp) -> (account: String, reading: AutoSignInReading) {
        let own = self[key].reading(on: device, at: now, delay: syncDelay)
        let simulated = self.device(device)
        guard own.value == nil, simulated.platform == .tvOS, let account = simulated.defaultAccount, account != key.account else {
            return (key.account, own)
        }
        let other = Key(store: key.store, account: account, bundleID: key.bundleID)
        let shared = self[other].reading(on: device, at: now, delay: syncDelay)
        return shared.value == nil ? (key.account, own) : (account, shared)
    }

    /// Exchanges a value on every account that holds it (A8).
    /// - Returns: True when one did.
    mutating func replace(_ value: String, with other: String, of bundleID: String, in store: AppleStore, at now: Timestamp) -> Bool {
        let holders = holders(of: value, bundleID, store)
        for key in holders { self[key].replace(with: other, at: now) }
        return !holders.isEmpty
    }

    /// Takes a value off every account that holds it (A9).
    /// - Returns: True when one did.
    mutating func delete(_ value: String, of bundleID: String, in store: AppleStore, at now: Timestamp) -> Bool {
        let holders = holders(of: value, bundleID, store)
        for key in holders { self[key].delete(on: nil, at: now) }
        return !holders.isEmpty
    }

    private func holders(of value: String, _ bundleID: String, _ store: AppleStore) -> [Key] {
        records.filter { $0.key.store == store && $0.key.bundleID == bundleID && $0.value.current.value == value }.map(\.key)
    }
}

/// The kind of a simulated device.
struct SimulatedDevice: Sendable, Decodable, Equatable {
    enum Platform: String, Sendable, Decodable {
        case iOS, iPadOS, tvOS, macOS, visionOS

        /// True when apps may ask for an opt-in and store values (apple §1.1).
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
