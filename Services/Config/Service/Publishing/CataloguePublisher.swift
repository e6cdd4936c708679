public import Clocks
internal import Contracts
public import Faults
public import Logging
public import Tokens

/// Commits changes and publishes what comes of them: first the one, then the other.
public struct CataloguePublisher: Sendable {
    let store: CatalogueStore
    let published: PublishedCatalogue
    private let statementKeys: @Sendable () -> [JSONWebKey]
    private let clock: any WallClock
    private let logger: Logger?

    /// - Parameter statementKeys: That verify software statements, as this copy has them.
    public init(
        store: CatalogueStore, published: PublishedCatalogue, statementKeys: @escaping @Sendable () -> [JSONWebKey], clock: any WallClock,
        logger: Logger? = nil
    ) {
        self.store = store
        self.published = published
        self.statementKeys = statementKeys
        self.clock = clock
        self.logger = logger
    }

    /// Commits changes; when they make a difference to services, these get a new version before this returns.
    func change<Value: Sendable>(_ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        let keys = statementKeys()
        let (value, publication) = try await store.write(now: clock.now()) { ledger in
            let value = try body(ledger)
            return (value, try ledger.publish(keys: keys))
        }
        // Not new is news too where another copy made it.
        tell(publication)
        return value
    }

    /// Hands a publication out, and names in the log what ended with it.
    func tell(_ publication: Publication) {
        if let logger { publication.tellEnded(logger) }
        published.publish(publication)
    }

    /// Lets services know the keys that verify software statements, where they do not know them yet. The catalogue file is not looked at.
    /// - Throws: `Fault` of the store; they do not know them then.
    public func publishStatementKeys() async throws(Fault) {
        let configuration = published.configuration
        let known = try? JSONWebKeySet(published: configuration.statementKeys)
        let lacking = statementKeys().filter { known?.key($0.identifier) == nil }
        // Before there is a version nobody knows any.
        guard configuration.version > 0, !lacking.isEmpty else { return }
        let retired = Set(texts: try await read { try $0.statementKeys().filter { $0.retiredAt != nil }.map(\.name) })
        if lacking.contains(where: { !retired.contains(OctetText($0.identifier)) }) { try await change { _ in } }
    }

    /// Reads and checks the documents that changes are about, so that the changes themselves are quick: `change` and `write` keep others from writing.
    func rehearse<Value: Sendable>(_ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async {
        await store.rehearse(now: clock.now(), body)
    }

    /// Commits changes that services are not concerned with.
    func write<Value: Sendable>(_ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.write(now: clock.now(), body)
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.read(now: clock.now(), body)
    }

    var currentStatementKeys: [JSONWebKey] { statementKeys() }

    var now: Timestamp { clock.now() }
}
