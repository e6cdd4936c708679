public import Clocks
internal import Contracts
public import Faults

/// Commits changes and publishes what comes of them: first the one, then the other.
public struct CataloguePublisher: Sendable {
    let store: CatalogueStore
    let published: PublishedCatalogue
    private let statementKeys: @Sendable () -> String
    private let clock: any WallClock

    /// - Parameter statementKeys: The JWK set that verifies software statements, as JSON.
    public init(store: CatalogueStore, published: PublishedCatalogue, statementKeys: @escaping @Sendable () -> String, clock: any WallClock) {
        self.store = store
        self.published = published
        self.statementKeys = statementKeys
        self.clock = clock
    }

    /// Commits changes; when they make a difference to services, these get a new version before this returns.
    func change<Value: Sendable>(_ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        let keys = statementKeys()
        let (value, publication) = try await store.write(now: clock.now()) { ledger in
            let value = try body(ledger)
            return (value, try ledger.publish(keys: keys))
        }
        // Not new is news too where another copy made it.
        published.publish(publication)
        return value
    }

    /// Lets services know the keys that verify software statements, where they do not know them yet. The catalogue file is not looked at.
    /// - Returns: True when they knew them before.
    /// - Throws: `Fault` of the store; they do not know them then.
    public func publishStatementKeys() async throws(Fault) -> Bool {
        guard published.configuration.statementKeys != statementKeys() else { return true }
        try await change { _ in }
        return false
    }

    /// Commits changes that services are not concerned with.
    func write<Value: Sendable>(_ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.write(now: clock.now(), body)
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.read(now: clock.now(), body)
    }

    var currentStatementKeys: String { statementKeys() }

    var now: Timestamp { clock.now() }
}
