internal import Synchronization

/// What a part of the bridge knows beside the store, for all who hold a copy of the part.
final class BridgeMemory<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: sending Value) { mutex = Mutex(value) }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in body(&value) }
    }
}
