internal import ContractRuntime
internal import Faults

/// Which connections of a pool can take calls, to which copies of the peer they lead, and who waits for one.
struct PoolState<Connection: AnyObject & Sendable>: Sendable {
    /// The state of one address.
    enum Link: Sendable {
        /// The first attempt, or the first after a connection ended, is under way: worth a short wait.
        case hopeful
        case ready(Connection)
        /// The last attempt failed.
        case failing(any Error)
        /// The copy that it led to is gone.
        case absent
    }

    typealias Waiter = UnsafeContinuation<Void, Never>
    typealias Instant = ContinuousClock.Instant

    /// A call goes here.
    struct Choice: Sendable {
        let connection: Connection
        /// Number of the copy that it leads to.
        let copy: Int
    }

    private(set) var links: [Link]
    /// Which links lead to a copy that said that it cannot work now.
    private var resting: [Bool]
    /// By number.
    var copies: [CopyState]
    /// This program runs here; empty: copies of all zones are alike.
    let zone: String
    /// Neighbours in `links` that lead to the same copy of the peer.
    let perCopy: Int

    // These follow from the above. They are made anew at each change and not at each call.
    /// Copies to which there is a connection.
    private(set) var connected: [Int] = []
    /// Those among them that calls go to.
    private(set) var candidates: [Int] = []
    /// The others that can work, for what one of the first failed to do.
    private(set) var reserves: [Int] = []
    /// This many copies of those to which there is a connection do not say that they cannot work.
    private(set) var servingCopies = 0
    /// True when the candidates' weights differ.
    private(set) var isWeighted = false
    /// The next copy is put into service again at this time.
    var nextReturn: Instant?

    var random: SplitMix64
    /// Calls that were given to connections.
    var turn: UInt64 = 0
    private var waiters: [UInt64: Waiter] = [:]
    private var nextWaiter: UInt64 = 0
    var budget = RetryBudget()
    private(set) var isShutDown = false

    /// - Parameters:
    ///   - copies: Those that are tried from the start.
    ///   - perCopy: Connections to each of them.
    init(_ copies: [CopyState], perCopy: Int = 1, zone: String = "", random: SplitMix64 = SplitMix64()) {
        self.copies = copies
        self.perCopy = perCopy
        self.zone = zone
        self.random = random
        links = Array(repeating: .hopeful, count: copies.count * perCopy)
        resting = Array(repeating: false, count: links.count)
    }

    var readyCount: Int {
        links.count { if case .ready = $0 { true } else { false } }
    }

    var isHopeful: Bool {
        links.contains { if case .hopeful = $0 { true } else { false } }
    }

    /// An address cannot be reached for this reason, when one cannot.
    var lastFailure: (any Error)? {
        for case .failing(let reason) in links { return reason }
        return nil
    }

    /// A connection to each copy that there is; `nil`: none is ready.
    var everyCopy: [(copy: Int, connection: Connection?)] {
        copies.indices.compactMap { copy in
            let own = links[links(of: copy)]
            if own.allSatisfy({ if case .absent = $0 { true } else { false } }) { return nil }
            return (copy, own.lazy.compactMap { if case .ready(let connection) = $0 { connection } else { nil } }.first)
        }
    }

    func links(of copy: Int) -> Range<Int> { copy * perCopy..<(copy + 1) * perCopy }

    /// Notes what the copy at the other end says of itself.
    mutating func note(isServing: Bool, of connection: Connection) {
        guard let index = links.firstIndex(where: { if case .ready(let known) = $0 { known === connection } else { false } }) else { return }
        resting[index] = !isServing
        refresh()
    }

    /// - Parameter zone: The zone of the copy, when a connection to it is ready.
    /// - Returns: Who waited for news and is to be resumed.
    mutating func set(_ link: Link, at index: Int, zone: String? = nil) -> [Waiter] {
        if isAbsent(index) { return [] }
        links[index] = link
        resting[index] = false
        if let zone { copies[index / perCopy].zone = zone }
        refresh()
        return takeWaiters()
    }

    /// - Returns: True when the link was that connection.
    mutating func lose(_ connection: Connection, at index: Int) -> Bool {
        guard case .ready(let current) = links[index], current === connection else { return false }
        links[index] = .hopeful
        resting[index] = false
        refresh()
        return true
    }

    /// Makes room for the connections to a copy of the peer.
    /// - Parameter number: The number of the copy: one that was there before, or a new one; numbers in between are of copies to which there are no
    ///   connections.
    mutating func add(_ copy: CopyState, as number: Int) {
        while copies.count <= number {
            copies.append(copy)
            links += Array(repeating: .absent, count: perCopy)
            resting += Array(repeating: false, count: perCopy)
        }
        // Another one stood for it: a name before it was looked up, for example. Calls were never made to that.
        if copies[number].key != copy.key { copies[number] = copy }
        copies[number].rank = copy.rank
        for index in links(of: number) { links[index] = isShutDown ? .failing(Self.closed) : .hopeful }
        refresh()
    }

    mutating func rank(_ copy: Int, _ rank: CopyRank) {
        guard copy < copies.count, copies[copy].rank != rank else { return }
        copies[copy].rank = rank
        refresh()
    }

    func isAbsent(_ index: Int) -> Bool {
        if case .absent = links[index] { true } else { false }
    }

    /// Takes no further connection to a copy until it is added anew.
    /// - Returns: The connections that led to it, and who waited for news.
    mutating func removeCopy(_ copy: Int) -> (connections: [Connection], waiters: [Waiter]) {
        let connections = links[links(of: copy)].compactMap { if case .ready(let connection) = $0 { connection } else { nil } }
        for index in links(of: copy) { (links[index], resting[index]) = (.absent, false) }
        refresh()
        return (connections, takeWaiters())
    }

    private static var closed: Fault { Fault(.unavailable, "The client is shut down.") }

    mutating func shutDown() -> (connections: [Connection], waiters: [Waiter]) {
        isShutDown = true
        let connections = links.compactMap { if case .ready(let connection) = $0 { connection } else { nil } }
        links = links.map { _ in Link.failing(Self.closed) }
        refresh()
        return (connections, takeWaiters())
    }

    /// A number under which to wait.
    mutating func newWaiter() -> UInt64 {
        nextWaiter += 1
        return nextWaiter
    }

    /// - Returns: `false` when there is nothing to wait for.
    mutating func wait(_ waiter: Waiter, as number: UInt64) -> Bool {
        guard isHopeful, connected.isEmpty else { return false }
        waiters[number] = waiter
        return true
    }

    mutating func takeWaiter(_ number: UInt64) -> Waiter? { waiters.removeValue(forKey: number) }

    private mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}

// MARK: - Who gets calls

extension PoolState {
    /// A copy that says that it cannot work gets calls only when every copy says so: a call that is refused tells more than none. The same holds for
    /// those that are taken out of service. The first priority of the rest counts; among these, those of this zone count while they are a third of
    /// them.
    mutating func refresh() {
        connected = copies.indices.filter { links(of: $0).contains { if case .ready = links[$0] { true } else { false } } }
        let serving = connected.filter { !links(of: $0).contains { resting[$0] } }
        servingCopies = serving.count
        let sound = serving.filter { !copies[$0].record.isBanned }
        let able = !sound.isEmpty ? sound : !serving.isEmpty ? serving : connected
        let first = able.map { copies[$0].rank.priority }.min() ?? 0
        let preferred = able.filter { copies[$0].rank.priority == first }
        let near = zone.isEmpty ? [] : preferred.filter { copies[$0].zone == zone }
        candidates = near.count * 3 >= preferred.count && !near.isEmpty ? near : preferred
        reserves = serving.filter { !candidates.contains($0) }
        isWeighted = candidates.contains { copies[$0].rank.weight != copies[candidates[0]].rank.weight }
    }
}

/// Numbers that need only be different, without a system call for each (Steele, Lea, Flood 2014). Never for secrets.
struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64 = .random(in: .min ... .max)) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A trace for a call that came without one.
    mutating func newTrace() -> TraceContext {
        let (high, low) = (next() | 1, next())
        return TraceContext(traceHigh: high, traceLow: low, span: next() | 1, flags: TraceSampling.flags(of: low))
    }
}
