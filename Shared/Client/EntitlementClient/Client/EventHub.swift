internal import Octets
internal import Synchronization

/// Passes events on, in the order in which they happen.
final class EventHub: Sendable {
    /// Unread events beyond this number are dropped, the oldest first.
    static let bufferLimit = 1024

    private struct State {
        var streams: [Int: AsyncStream<EntitlementEvent>.Continuation] = [:]
        var next = 0
        var sink: (@Sendable (EntitlementEvent) -> Void)?
    }

    private let state = Mutex(State())

    /// Calls a closure with each event, in the emitting task; there is one.
    func setSink(_ sink: @escaping @Sendable (EntitlementEvent) -> Void) { state.withLock { $0.sink = sink } }

    func emit(_ event: EntitlementEvent) {
        let (sink, streams) = state.withLock { ($0.sink, Array($0.streams.values)) }
        sink?(event)
        for stream in streams { stream.yield(event) }
    }

    func stream() -> AsyncStream<EntitlementEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            let id = state.withLock { state in
                state.next += 1
                state.streams[state.next] = continuation
                return state.next
            }
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        }
    }

    func finish() {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.finish() }
    }

    private func remove(_ id: Int) { state.withLock { _ = $0.streams.removeValue(forKey: id) } }
}
