public import Catalogue
internal import Clocks
public import ContractRuntime
public import Contracts
public import Faults
internal import Synchronization
public import Tokens

/// Stands in for the config service: serves the configuration that it was given last, to watchers too.
public final class InMemoryConfig: Config {
    private struct State {
        var configuration: Configuration
        var encoded: [UInt8]
        var catalogue: Catalogue
        var watchers: [Int: AsyncThrowingStream<Configuration, any Error>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    private let statements: SoftwareStatementIssuer?

    /// - Parameters:
    ///   - configuration: Its `statement_keys` become those of the key.
    ///   - statementKey: Signs software statements; `nil`: none are issued.
    /// - Throws: `invalid_message` when a text of the configuration cannot be encoded.
    public init(_ configuration: Configuration, statementKey: SigningKey? = nil) throws(Fault) {
        var configuration = configuration
        let keys = statementKey.map { SigningKeys(SigningKeyRing(current: $0)) }
        statements = keys.map { SoftwareStatementIssuer(keys: $0, issuer: "boxoffice") }
        if let keys { configuration.statementKeys = keys.keySet.json }
        let encoded = try configuration.serialized()
        state = Mutex(State(configuration: configuration, encoded: encoded, catalogue: Catalogue(configuration)))
    }

    public var configuration: Configuration { state.withLock { $0.configuration } }

    /// The same, with its entries by id.
    public var catalogue: Catalogue { state.withLock { $0.catalogue } }

    /// Replaces the configuration and tells the watchers. The version becomes the next one, the keys of statements stay.
    /// - Throws: `invalid_message` when it cannot be encoded; the old one stays.
    public func publish(_ configuration: Configuration) throws(Fault) {
        var configuration = configuration
        let current = self.configuration
        configuration.version = max(configuration.version, current.version + 1)
        configuration.statementKeys = current.statementKeys
        let encoded = try configuration.serialized()
        let watchers = state.withLock { [configuration] state in
            state.configuration = configuration
            state.encoded = encoded
            state.catalogue = Catalogue(configuration)
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield(configuration) }
    }

    /// Ends every watcher's stream, as a lost connection does.
    public func disconnectWatchers() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish(throwing: Fault(.unavailable, "The service is stopping.", retryAfter: .milliseconds(100))) }
    }

    /// The whole configuration as it goes over the wire.
    var encoded: [UInt8] { state.withLock { $0.encoded } }

    public func getConfiguration(_ request: GetConfigurationRequest, context: CallContext) async throws -> Configuration { configuration }

    public func watchConfiguration(
        _ request: WatchConfigurationRequest, context: CallContext
    ) async throws -> AsyncThrowingStream<Configuration, any Error> {
        let (stream, continuation) = AsyncThrowingStream<Configuration, any Error>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            state.nextWatcher += 1
            let number = state.nextWatcher
            state.watchers[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
            }
            if state.configuration.version != request.knownVersion { continuation.yield(state.configuration) }
        }
        return stream
    }

    public func issueSoftwareStatement(
        _ request: IssueSoftwareStatementRequest, context: CallContext
    ) async throws -> Contracts.SoftwareStatement {
        guard let statements else { throw Fault(.unimplemented, "The double has no key for software statements.") }
        guard let application = catalogue.application(request.applicationID) else {
            throw Fault(.invalidRequest, "The catalogue has no application of that id.")
        }
        guard let softwareID = application.softwareIDs.first else {
            throw Fault(.unapprovedSoftwareStatement, "The application's software statement is revoked.")
        }
        let content = Tokens.SoftwareStatement(softwareID: softwareID, applicationID: application.id, applicationName: application.name)
        return Contracts.SoftwareStatement(statement: try statements.issue(content), softwareID: softwareID)
    }
}
