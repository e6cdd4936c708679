/// Where the copies of a peer are, and who keeps the connections to them.
struct PoolCopies {
    /// Copies that a caller keeps connections to when there are too many callers for all of them.
    static let some = 16

    /// By number of the copy, as in `PoolState`; what was there before for one that is gone.
    private(set) var addresses: [RpcAddress]
    var ranks: [CopyRank]
    /// True when the peer has the copy now.
    private var isThere: [Bool]
    /// The tasks of the copies that connections are kept to.
    var supervisors: [Int: [Task<Void, Never>]] = [:]
    var lookups: [Task<Void, Never>] = []
    private(set) var isStopped = false
    private var keepsSome = false
    private let caller: UInt64

    /// - Parameters:
    ///   - places: The places that stand for copies until they are known.
    ///   - caller: Number of this program, by which it chooses some of many copies.
    init(_ places: [RpcAddress], caller: UInt64) {
        addresses = places
        ranks = places.map { _ in CopyRank() }
        isThere = places.map { _ in false }
        self.caller = caller
    }

    /// For a copy that comes: the number that it had before, or the next one.
    func number(of address: RpcAddress) -> Int {
        addresses.indices.first { addresses[$0] == address && !isThere[$0] && supervisors[$0] == nil } ?? addresses.count
    }

    mutating func come(_ copy: FoundCopy, as number: Int) {
        if number == addresses.count {
            addresses.append(copy.address)
            ranks.append(copy.rank)
            isThere.append(true)
        } else {
            (addresses[number], ranks[number], isThere[number]) = (copy.address, copy.rank, true)
        }
    }

    mutating func go(_ number: Int) { isThere[number] = false }

    /// - Returns: True when that is news.
    mutating func keepSome() -> Bool {
        defer { keepsSome = true }
        return !keepsSome && !isStopped
    }

    /// The copies that connections are to be kept to: all, or the best ones for this caller, so that the copies share the callers.
    var chosen: Set<Int> {
        let there = addresses.indices.filter { isThere[$0] }
        guard keepsSome, there.count > Self.some else { return Set(there) }
        let scored = there.map {
            (number: $0, priority: ranks[$0].priority, score: Rendezvous.score(caller, Rendezvous.key(of: addresses[$0].description)))
        }
        let best = scored.sorted { $0.priority == $1.priority ? $0.score > $1.score : $0.priority < $1.priority }
        return Set(best.prefix(Self.some).map(\.number))
    }

    /// - Returns: The tasks to cancel.
    mutating func stop() -> [Task<Void, Never>] {
        isStopped = true
        return lookups + supervisors.values.joined()
    }
}
