import Synchronization

/// The memory of a mutant.
final class Kept<Value: Sendable>: Sendable {
    private let values = Mutex<[String: Value]>([:])

    subscript(_ key: String) -> Value? {
        get { values.withLock { $0[key] } }
        set { values.withLock { $0[key] = newValue } }
    }

    var all: [Value] { values.withLock { Array($0.values) } }
}
