internal import Clocks
internal import Synchronization

/// The whole state of the stand-in Apple, changed as one value.
final class AppleMemory: Sendable {
    struct Content: Sendable {
        var directory: AppleDirectory
        var octets: RepeatableOctets
        var keys: IdentityKeys
        /// Seconds for which the key set may be kept.
        var keysMaxAge = 3600
        var users: [String: AppleUser] = [:]
        var ledger = AuthorizationLedger()
        var transfers = TeamTransfers()
        var tokens = SharedTokens()
        var consentPages: [String: ConsentRequest] = [:]
        var secrets = IssuedSecrets()

        var names: AppleNames { AppleNames(octets: octets) }

        func user(_ account: String) -> AppleUser { users[account] ?? AppleUser(account: account) }
    }

    private let content: Mutex<Content>
    private let start: Content

    init(directory: AppleDirectory, seed: String?) throws(SettingsFault) {
        var octets = RepeatableOctets(seed: seed)
        do {
            let keys = try IdentityKeys(&octets)
            start = Content(directory: directory, octets: octets, keys: keys)
            content = Mutex(start)
        } catch {
            throw SettingsFault(key: "apple.seed", problem: "gives no keys: \(error.reason)")
        }
    }

    func access<Value>(_ body: (inout Content) throws -> Value) rethrows -> Value {
        try content.withLock { content in try body(&content) }
    }

    /// Restores the initial state, except that no id or code is given out twice.
    func reset() {
        content.withLock { content in
            let octets = content.octets
            content = start
            content.octets = octets
        }
    }
}
