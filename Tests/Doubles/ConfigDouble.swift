public import ContractRuntime
public import Contracts
internal import Faults
internal import Synchronization

/// Stands in for the config service: serves the configuration that it was given last, to watchers too.
public final class ConfigDouble: Config {
    private struct State {
        var configuration: Configuration
        var watchers: [Int: AsyncThrowingStream<Configuration, any Error>.Continuation] = [:]
        var nextWatcher = 0
    }

    public let issueSoftwareStatement = Scripted<IssueSoftwareStatementRequest, SoftwareStatement>()
    private let state: Mutex<State>

    public init(_ configuration: Configuration) { state = Mutex(State(configuration: configuration)) }

    /// Replaces the configuration and tells the watchers.
    public func publish(_ configuration: Configuration) {
        let watchers = state.withLock { state in
            state.configuration = configuration
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
        for watcher in watchers { watcher.finish(throwing: Fault(.unavailable, "The connection is lost.")) }
    }

    public func getConfiguration(_ request: GetConfigurationRequest, context: CallContext) async throws -> Configuration {
        state.withLock { $0.configuration }
    }

    public func watchConfiguration(
        _ request: WatchConfigurationRequest, context: CallContext
    ) async throws -> AsyncThrowingStream<Configuration, any Error> {
        let (stream, continuation) = AsyncThrowingStream<Configuration, any Error>.makeStream()
        let (number, current) = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = continuation
            return (state.nextWatcher, state.configuration)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
        }
        if current.version > request.knownVersion { continuation.yield(current) }
        return stream
    }

    public func issueSoftwareStatement(
        _ request: IssueSoftwareStatementRequest, context: CallContext
    ) async throws -> SoftwareStatement {
        try await issueSoftwareStatement(request, context)
    }
}
