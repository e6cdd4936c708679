internal import SandboxKit

/// A dictionary with a limit: the entry that was set first goes when there are too many.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var entries: [Key: (number: Int, value: Value)] = [:]
    private var order: [(number: Int, key: Key)] = []
    private var first = 0
    private var counter = 0

    init(limit: Int) { self.limit = limit }

    var count: Int { entries.count }

    /// The oldest first.
    var values: [Value] { entries.values.sorted { $0.number < $1.number }.map(\.value) }

    subscript(key: Key) -> Value? {
        get { entries[key]?.value }
        set {
            guard let newValue else {
                entries[key] = nil
                return
            }
            if let entry = entries[key] {
                entries[key] = (entry.number, newValue)
                return
            }
            counter += 1
            entries[key] = (counter, newValue)
            order.append((counter, key))
            trim()
        }
    }

    /// Removes what does not fit.
    mutating func keep(where isKept: (Value) -> Bool) { entries = entries.filter { isKept($0.value.value) } }

    private mutating func trim() {
        while entries.count > limit, first < order.count {
            let (number, key) = order[first]
            first += 1
            if entries[key]?.number == number { entries[key] = nil }
        }
        if order.count > 64, order.count > 4 * entries.count || first > order.count / 2 {
            order = order[first...].filter { entries[$0.key]?.number == $0.number }
            first = 0
        }
    }
}
