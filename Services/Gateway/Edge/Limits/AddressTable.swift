internal import Synchronization

/// What a table keeps of an address.
protocol AddressRecord: Sendable {
    /// The record of an address of which nothing is known.
    init()
    /// From this time on, in nanoseconds, the record says no more than a fresh one.
    var expires: Int64 { get }
}

/// Records by address in a fixed amount of memory, each found in constant time.
///
/// An address may lie in any of `ways` places of its row. When a new one comes, it takes a place whose record has expired; if all are alive, the
/// one that would have expired first. So a flood of addresses pushes out its own light records, not the heavy ones of others, and nothing has to be
/// swept. Rows are made when they are first used, a shard at a time.
final class AddressTable<Record: AddressRecord>: Sendable {
    private static var ways: Int { 16 }
    private let shards: [Shard]
    /// How many addresses it can hold.
    let capacity: Int

    private final class Shard: Sendable {
        let rows = Mutex(Rows())
    }

    private struct Rows {
        var digests: [UInt64] = []
        var records: [Record] = []
    }

    private let placesPerShard: Int

    /// - Parameter capacity: Rounded up to a multiple of 1024.
    init(capacity: Int) {
        let shardCount = 64
        let rows = max(1, (capacity + shardCount * Self.ways - 1) / (shardCount * Self.ways))
        placesPerShard = rows * Self.ways
        self.capacity = placesPerShard * shardCount
        shards = (0..<shardCount).map { _ in Shard() }
    }

    /// Reads and changes the record of an address.
    /// - Parameter now: In nanoseconds.
    func update<Value: Sendable>(_ key: AddressKey, now: Int64, _ change: (inout Record) -> Value) -> Value {
        shards[Int(key.digest >> 58)].rows.withLock { rows in
            if rows.digests.isEmpty {
                rows.digests = Array(repeating: 0, count: placesPerShard)
                rows.records = Array(repeating: Record(), count: placesPerShard)
            }
            return change(&rows.records[place(of: key.digest, in: &rows, now: now)])
        }
    }

    private func place(of digest: UInt64, in rows: inout Rows, now: Int64) -> Int {
        let first = Int(digest % UInt64(placesPerShard / Self.ways)) * Self.ways
        var choice = first
        for place in first..<first + Self.ways {
            if rows.digests[place] == digest {
                if rows.records[place].expires <= now { rows.records[place] = Record() }
                return place
            }
            if rows.digests[choice] != 0, rows.digests[place] == 0 || rows.records[place].expires < rows.records[choice].expires { choice = place }
        }
        rows.digests[choice] = digest
        rows.records[choice] = Record()
        return choice
    }
}
