public import Clocks
internal import Contracts
internal import CoreMetrics
public import Faults
public import Logging
internal import Synchronization
public import Tokens

/// Hears what other copies of the service publish: asks the store four times a second.
///
/// A copy that cannot ask may miss a version. It says so, and ends its subscriptions again and again, so that subscribers find another copy where
/// there is one.
public final class CatalogueFollower: Sendable {
    private static let interval: Duration = .milliseconds(250)

    private struct State {
        /// The last question that was answered was asked at this time.
        var heard = ContinuousClock.now
        /// Subscriptions were ended last at this time; `nil`: the store answers.
        var ended: ContinuousClock.Instant?
    }

    private let store: CatalogueStore
    private let published: PublishedCatalogue
    private let patience: Duration
    private let logger: Logger
    private let state = Mutex(State())
    private let version = Gauge(label: "boxoffice_config_catalogue_version")

    /// - Parameter patience: For how long the store may give no answer.
    public init(store: CatalogueStore, published: PublishedCatalogue, patience: Duration = .seconds(5), logger: Logger) {
        self.store = store
        self.published = published
        self.patience = patience
        self.logger = logger
    }

    /// What is served may be out of date for this reason; `nil` while it is not.
    public var lacking: String? {
        if published.configuration.version == 0 {
            return "there is no version yet: a copy with config.catalogue brings one, or 'boxoffice catalogue import FILE'"
        }
        let silence = state.withLock { $0.heard }.duration(to: .now)
        guard silence >= patience else { return nil }
        return "nothing was heard of other copies for \(silence.components.seconds) s: the store does not answer"
    }

    /// Asks until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            await ask()
            try? await Task.sleep(for: Self.interval)
        }
    }

    func ask() async {
        let asked = ContinuousClock.now
        do throws(Fault) {
            let known = published.configuration.version
            if let newer = try await store.published(after: known) {
                let edition = try PublishedCatalogue.Edition(encoded: newer)
                published.publish(edition)
                logger.info("catalogue.heard", metadata: ["version": "\(edition.configuration.version)", "replaced": "\(known)"])
            }
            version.record(Double(published.configuration.version))
            let wasSilent = state.withLock { state in
                defer { (state.heard, state.ended) = (asked, nil) }
                return state.ended != nil
            }
            if wasSilent { logger.notice("catalogue.store_heard") }
        } catch {
            report(error)
        }
    }

    private func report(_ error: Fault) {
        let now = ContinuousClock.now
        let (isOver, isFirst) = state.withLock { state in
            guard state.heard + patience <= now, (state.ended.map { $0 + patience <= now } ?? true) else { return (false, false) }
            defer { state.ended = now }
            return (true, state.ended == nil)
        }
        guard isOver else { return }
        if isFirst { logger.error("catalogue.store_silent", metadata: ["error": "\(error)"]) }
        published.endSubscriptions("This copy hears nothing of others.")
    }
}

/// Commits changes and publishes what comes of them: first the one, then the other.
public struct CataloguePublisher: Sendable {
    let store: CatalogueStore
    let published: PublishedCatalogue
    private let statementKeys: @Sendable () -> [JSONWebKey]
    private let clock: any WallClock
    private let logger: Logger?

    /// - Parameter statementKeys: The keys that verify software statements, as this copy has them.
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

    /// Reads and checks the documents that changes are about, so that the changes themselves are quick: `change` and `write` keep others from
    /// writing.
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
