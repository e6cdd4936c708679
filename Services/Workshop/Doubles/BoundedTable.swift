internal import Synchronization

/// A dictionary for many threads; beyond its capacity it forgets what was put in first.
final class BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var values: [Key: Value] = [:]
        /// Keys in the order in which they came; those before `first` are forgotten.
        var order: [Key] = []
        var first = 0
    }

    private final class Shard: Sendable {
        let state = Mutex(State())
    }

    /// A power of two: the number of threads that can work at once.
    private static var shardCount: Int { 64 }

    private let shards: [Shard]
    private let capacity: Int

    /// - Parameter capacity: Entries that are kept, 64 or more.
    init(capacity: Int) {
        shards = (0..<Self.shardCount).map { _ in Shard() }
        self.capacity = max(1, capacity / Self.shardCount)
    }

    subscript(key: Key) -> Value? {
        get { shard(key).state.withLock { $0.values[key] } }
        set { change(key) { $0 = newValue } }
    }

    /// Reads and changes one entry in one step.
    func change<Result: Sendable>(_ key: Key, _ body: (inout Value?) throws -> sending Result) rethrows -> Result {
        try shard(key).state.withLock { state in
            var value = state.values[key]
            let wasThere = value != nil
            let result = try body(&value)
            state.values[key] = value
            if !wasThere, value != nil { remember(key, &state) }
            return result
        }
    }

    /// A copy of all entries, for rare questions.
    var all: [Key: Value] {
        shards.reduce(into: [:]) { all, shard in all.merge(shard.state.withLock { $0.values }) { $1 } }
    }

    private func shard(_ key: Key) -> Shard { shards[key.hashValue & (Self.shardCount - 1)] }

    private func remember(_ key: Key, _ state: inout State) {
        state.order.append(key)
        while state.order.count - state.first > capacity {
            // A key that was removed and added again is in the order twice, so that it is evicted earlier than necessary.
            state.values[state.order[state.first]] = nil
            state.first += 1
        }
        if state.first > capacity {
            state.order.removeFirst(state.first)
            state.first = 0
        }
    }
}
