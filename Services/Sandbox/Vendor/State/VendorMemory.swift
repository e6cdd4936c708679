internal import Synchronization

/// Holds the state; each access sees and leaves it whole.
final class UpstreamMemory: Sendable {
    private let content: Mutex<UpstreamState>
    private let start: UpstreamState

    init(_ state: UpstreamState) {
        start = state
        content = Mutex(state)
    }

    func access<Value>(_ body: (inout UpstreamState) throws -> Value) rethrows -> Value {
        try content.withLock { state in try body(&state) }
    }

    /// Everything as at the start: clients, profiles and settings are forgotten.
    func reset() { content.withLock { $0 = start } }
}
