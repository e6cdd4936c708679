/// Entries of which each is with one user at a time, so that nobody reads what another one is about to end.
struct Pool<Entry: Sendable>: Sendable {
    private(set) var entries: [Entry] = []

    var count: Int { entries.count }

    mutating func put(_ entry: Entry) { entries.append(entry) }

    /// Takes one out at random; it comes back by `put`, or never.
    mutating func borrow(where isFit: (Entry) -> Bool = { _ in true }) -> Entry? {
        guard !entries.isEmpty else { return nil }
        let start = Int.random(in: entries.indices)
        for offset in entries.indices {
            let index = (start + offset) % entries.count
            guard isFit(entries[index]) else { continue }
            entries.swapAt(index, entries.count - 1)
            return entries.removeLast()
        }
        return nil
    }
}
