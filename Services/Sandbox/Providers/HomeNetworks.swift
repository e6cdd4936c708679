internal import Synchronization

/// The home networks that the provider recognises by address: people there sign in without a password (mvpd §5 item 1).
final class HomeNetworks: Sendable {
    struct Home: Sendable, Equatable {
        let addresses: Set<String>
        let person: String
    }

    private let settled: [String: Home]
    private let homes: Mutex<[String: Home]>

    /// - Parameter homes: By MVPD.
    init(_ homes: [String: Home]) {
        settled = homes
        self.homes = Mutex(homes)
    }

    /// - Parameter home: nil: none.
    func set(_ home: Home?, for mvpd: String) { homes.withLock { $0[mvpd] = home } }

    /// Back to the settings.
    func reset() { homes.withLock { $0 = settled } }

    /// The person of the home network with that address.
    func person(at address: String, mvpd: String) -> String? {
        homes.withLock { $0[mvpd].flatMap { $0.addresses.contains(address) ? $0.person : nil } }
    }
}
