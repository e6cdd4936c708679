/// Finds a method by the bytes of its names, without making strings of them.
public struct MethodTable: Sendable {
    private struct Entry: Sendable {
        var hash: UInt64
        var index: Int
        /// Service and method, one behind the other.
        var names: [UInt8]
        var serviceByteCount: Int

        func isNamed(_ service: UnsafeRawBufferPointer, _ method: UnsafeRawBufferPointer) -> Bool {
            guard serviceByteCount == service.count, names.count == service.count + method.count else { return false }
            return names.withUnsafeBytes { names in
                MethodTable.isEqual(names, 0, service) && MethodTable.isEqual(names, serviceByteCount, method)
            }
        }
    }

    private var entries: [Entry?]
    private var count = 0

    public init() {
        entries = Array(repeating: nil, count: 16)
    }

    /// - Parameter methods: Each method's index is its place.
    public init(_ methods: [(service: String, method: String)]) {
        self.init()
        for (index, method) in methods.enumerated() { insert(service: method.service, method: method.method, index: index) }
    }

    /// A later index for the same names replaces the earlier one.
    public mutating func insert(service: String, method: String, index: Int) {
        if (count + 1) * 2 > entries.count { grow() }
        let names = Array(service.utf8) + Array(method.utf8)
        let entry = names.withUnsafeBytes { bytes in
            let split = service.utf8.count
            let hash = Self.hash(UnsafeRawBufferPointer(rebasing: bytes[..<split]), UnsafeRawBufferPointer(rebasing: bytes[split...]))
            return Entry(hash: hash, index: index, names: names, serviceByteCount: split)
        }
        put(entry)
    }

    /// The index of the method; `nil` when it is not in the table.
    public func index(service: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer) -> Int? {
        let hash = Self.hash(service, method)
        var place = Int(truncatingIfNeeded: hash) & (entries.count - 1)
        while let entry = entries[place] {
            if entry.hash == hash, entry.isNamed(service, method) { return entry.index }
            place = (place + 1) & (entries.count - 1)
        }
        return nil
    }

    private mutating func put(_ entry: Entry) {
        var place = Int(truncatingIfNeeded: entry.hash) & (entries.count - 1)
        while let other = entries[place] {
            if other.names == entry.names, other.serviceByteCount == entry.serviceByteCount {
                entries[place] = entry
                return
            }
            place = (place + 1) & (entries.count - 1)
        }
        entries[place] = entry
        count += 1
    }

    private mutating func grow() {
        let old = entries
        entries = Array(repeating: nil, count: old.count * 2)
        count = 0
        for entry in old { if let entry { put(entry) } }
    }

    /// The hash of the lengths and the last bytes, in which names differ. This program fills the table at the start, so no peer can choose names that
    /// collide in it. Equal hashes are told apart by comparing.
    private static func hash(_ service: UnsafeRawBufferPointer, _ method: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: service.count << 32 | method.count) ^ 0xcbf2_9ce4_8422_2325
        hash = (hash ^ tail(service)) &* 0x9e37_79b9_7f4a_7c15
        hash = (hash ^ (hash >> 32) ^ tail(method)) &* 0x9e37_79b9_7f4a_7c15
        return hash ^ (hash >> 32)
    }

    /// True when the bytes from an offset begin with the other bytes.
    private static func isEqual(_ names: UnsafeRawBufferPointer, _ offset: Int, _ other: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index + 8 <= other.count {
            let left = names.loadUnaligned(fromByteOffset: offset + index, as: UInt64.self)
            guard left == other.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
            index += 8
        }
        while index < other.count {
            guard names[offset + index] == other[index] else { return false }
            index += 1
        }
        return true
    }

    /// The last eight bytes, or fewer.
    private static func tail(_ name: UnsafeRawBufferPointer) -> UInt64 {
        guard name.count < 8 else { return name.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self) }
        return name.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
