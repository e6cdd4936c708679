internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// What the operations of Sign in with Apple share, beside the service's own base.
struct AppleParts: Sendable {
    let base: AutoSignInBase
    let apple: AppleIDClient
    let keys: AppleKeys
    let proofs: AppleProofs
    let tickets: AppleTickets
    let linking: AppleLinking
    let sessions: AppleSessionStart

    init(_ base: AutoSignInBase, _ apple: AppleIDClient) {
        let parts = base.parts
        self.base = base
        self.apple = apple
        keys = AppleKeys(apple: apple, store: parts.store, clock: parts.clock, logger: parts.logger)
        proofs = AppleProofs(keys: keys, apple: apple, store: parts.store, clock: parts.clock)
        tickets = AppleTickets(store: parts.store, seal: parts.keys.seal(for: .tickets), clock: parts.clock, random: parts.random)
        linking = AppleLinking(seal: parts.keys.seal(for: .appleTokens), random: parts.random)
        sessions = AppleSessionStart(logins: parts.logins, clock: parts.clock, random: parts.random)
    }

    var store: AutoSignInStore { base.parts.store }

    func now() -> Timestamp { base.parts.clock.now() }

    func newID() -> String { base.parts.random.uuid(madeAt: now()) }
}

extension AppleIDClient {
    init(_ parts: AutoSignInParts) {
        self.init(
            server: parts.settings.apple.identityURL, transport: parts.transport,
            secrets: AppleClientSecrets(keys: parts.appleKeys, clock: parts.clock), logger: parts.logger)
    }
}

extension DeviceCaller {
    /// Who may use what was given out to this app on this device.
    var holder: String { names.joined(separator: " ") }

    /// The person's own login at the MVPD; `nil`: none, or a session that was made for the device.
    var personLogin: TVLogin? {
        guard let login, streaming == nil, [.regular, .platform, .shared].contains(login.kind) else { return nil }
        return login.person
    }
}

extension AccountRecord {
    /// - Throws: `account_locked`.
    func requireUsable() throws(Fault) {
        guard !isLocked, closedAt == nil else { throw Fault(.accountLocked, "The account is locked.") }
    }
}
