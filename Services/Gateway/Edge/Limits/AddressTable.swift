internal import Synchronization

/// The record that a table keeps of an address.
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
    /// The number of addresses that it can hold.
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

/// Under what a client address is counted: an IPv4 address as it is, an IPv6 address by its /64, which is what one customer gets.
///
/// Only a digest is kept, keyed anew in each process: nobody outside can choose addresses that meet in one place of a table.
struct AddressKey: Hashable, Sendable {
    /// Never 0, which marks a free place.
    let digest: UInt64

    init(_ address: IPAddress) {
        var hasher = Hasher()
        hasher.combine(address.isIPv4)
        hasher.combine(address.high)
        digest = max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }

    /// - Parameter digest: The digest of a key.
    init(digest: UInt64) { self.digest = digest }

    /// For what is counted by a name: of each kind in a table of its own.
    init(name: String) {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        digest = max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }
}

extension AddressKey {
    /// For what is counted by two names together.
    init(name: String, with other: String) {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        hasher.combine(0xff as UInt8)
        hasher.combine(bytes: other)
        digest = max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }
}

extension AddressKey {
    /// For a client as it is at one address; at one that cannot be read, as it is everywhere.
    init(client: String, at address: ClientAddress) {
        guard let address = IPAddress(address.text) else {
            self.init(name: client)
            return
        }
        self.init(name: client, with: "\(address.isIPv4) \(address.high)")
    }
}

extension Hasher {
    /// The octets of a text: cheaper than the text, whose canonical equivalents hash alike.
    fileprivate mutating func combine(bytes text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
