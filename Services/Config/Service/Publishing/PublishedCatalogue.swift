internal import ContractRuntime
public import Contracts
public import Faults
internal import Synchronization

/// The version that is served, encoded once, and the subscribers who wait for the next.
public final class PublishedCatalogue: Sendable {
    typealias Items = AsyncThrowingStream<Configuration, any Error>

    private struct State {
        var configuration: Configuration
        var encoded: [UInt8]
        var subscribers: [UInt64: Items.Continuation] = [:]
        var nextSubscriber: UInt64 = 0
    }

    private let state: Mutex<State>

    /// - Throws: `invalid_message` when a text of the configuration cannot be encoded.
    public init(_ configuration: Configuration) throws(Fault) {
        state = Mutex(State(configuration: configuration, encoded: try configuration.serialized()))
    }

    public var configuration: Configuration { state.withLock { $0.configuration } }

    /// The version as it goes over the wire.
    var encoded: [UInt8] { state.withLock { $0.encoded } }

    /// Serves another version and tells the subscribers, unless a newer one is served already: of two changes that were committed in a row the
    /// later one may come here first.
    /// - Throws: `invalid_message` when it cannot be encoded; the old one stays.
    public func publish(_ configuration: Configuration) throws(Fault) {
        let encoded = try configuration.serialized()
        state.withLock { state in
            guard configuration.version > state.configuration.version else { return }
            state.configuration = configuration
            state.encoded = encoded
            for subscriber in state.subscribers.values { subscriber.yield(configuration) }
        }
    }

    /// The version at once, unless the subscriber has it, then each newer one; a slow subscriber gets the newest only.
    func subscribe(knownVersion: UInt64) -> Items {
        let (stream, continuation) = Items.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            let number = state.nextSubscriber
            state.nextSubscriber += 1
            state.subscribers[number] = continuation
            continuation.onTermination = { [weak self] _ in self?.unsubscribe(number) }
            if state.configuration.version != knownVersion { continuation.yield(state.configuration) }
        }
        return stream
    }

    private func unsubscribe(_ number: UInt64) {
        state.withLock { _ = $0.subscribers.removeValue(forKey: number) }
    }

    /// Ends all subscriptions when the program stops: with `unavailable`, so that nobody takes it for the end of all versions.
    public func endSubscriptions() {
        let subscribers = state.withLock { state in
            defer { state.subscribers = [:] }
            return state.subscribers.values
        }
        let stopping = Fault(.unavailable, "The service is stopping.", retryAfter: .milliseconds(100))
        for subscriber in subscribers { subscriber.finish(throwing: stopping) }
    }

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }
}
