internal import Faults

/// Which connections of a pool can take calls, and who waits for one.
struct PoolState<Connection: AnyObject & Sendable>: Sendable {
    /// What is known of one address.
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

    private(set) var links: [Link]
    /// Which links lead to a copy that said that it cannot work now.
    private var resting: [Bool]
    private var next = 0
    private var waiters: [UInt64: Waiter] = [:]
    private var nextWaiter: UInt64 = 0
    var budget = RetryBudget()
    private(set) var isShutDown = false

    /// Neighbours in `links` that lead to the same copy of the peer.
    private let perAddress: Int

    /// - Parameters:
    ///   - count: Of connections.
    ///   - perAddress: How many of them lead to one copy, next to each other.
    init(count: Int, perAddress: Int = 1) {
        self.perAddress = perAddress
        links = Array(repeating: .hopeful, count: count)
        resting = Array(repeating: false, count: count)
    }

    var readyCount: Int {
        links.count { if case .ready = $0 { true } else { false } }
    }

    var isHopeful: Bool {
        links.contains { if case .hopeful = $0 { true } else { false } }
    }

    /// Why an address cannot be reached, when one cannot.
    var lastFailure: (any Error)? {
        for case .failing(let reason) in links { return reason }
        return nil
    }

    /// The next connection in turn, of the near ones if any of them is up. A copy that says that it cannot work gets calls only when every copy says so:
    /// a call that is refused tells more than none.
    /// - Parameters:
    ///   - other: A connection that just failed a call: one to another copy of the peer is better, then any other.
    ///   - isNear: Whether a call costs less over the connection.
    mutating func pick(otherThan other: Connection?, isNear: (Connection) -> Bool = { _ in true }) -> Connection? {
        let failed = other.flatMap { other in links.firstIndex { if case .ready(let known) = $0 { known === other } else { false } } }
        var choice: (connection: Connection, index: Int, rank: Int)?
        for offset in 0..<links.count {
            let index = (next + offset) % links.count
            guard case .ready(let connection) = links[index] else { continue }
            let rank = failed.map { index == $0 ? 4 : index / perAddress == $0 / perAddress ? 2 : 0 } ?? 0
            let distance = rank + (isNear(connection) ? 0 : 1) + (resting[index] ? Self.restingRank : 0)
            if distance < choice?.rank ?? .max { choice = (connection, index, distance) }
            if distance == 0 { break }
        }
        guard let choice else { return nil }
        if choice.rank % Self.restingRank < 4 { next = (choice.index + 1) % links.count }
        return choice.connection
    }

    /// Worse than a connection that just failed a call.
    private static var restingRank: Int { 8 }

    /// Notes what the copy at the other end says of itself.
    mutating func note(isServing: Bool, of connection: Connection) {
        guard let index = links.firstIndex(where: { if case .ready(let known) = $0 { known === connection } else { false } }) else { return }
        resting[index] = !isServing
    }

    /// Whether two connections lead to the same copy of the peer.
    func areToOneCopy(_ one: Connection, _ other: Connection) -> Bool {
        func place(_ connection: Connection) -> Int? {
            links.firstIndex { if case .ready(let known) = $0 { known === connection } else { false } }.map { $0 / perAddress }
        }
        return one === other || place(one) != nil && place(one) == place(other)
    }

    /// - Returns: Who waited for news and is to be resumed.
    mutating func set(_ link: Link, at index: Int) -> [Waiter] {
        if isAbsent(index) { return [] }
        links[index] = link
        resting[index] = false
        return takeWaiters()
    }

    /// - Returns: Whether the link was that connection.
    mutating func lose(_ connection: Connection, at index: Int) -> Bool {
        guard case .ready(let current) = links[index], current === connection else { return false }
        links[index] = .hopeful
        resting[index] = false
        return true
    }

    /// Makes room for the connections to one more copy of the peer.
    /// - Parameter former: The number of the same copy, when it was there before.
    /// - Returns: The number of the copy: its first link's index divided by the connections per copy.
    mutating func addCopy(former: Int?) -> Int {
        let copy = former ?? links.count / perAddress
        if former == nil {
            links += Array(repeating: .absent, count: perAddress)
            resting += Array(repeating: false, count: perAddress)
        }
        for index in copy * perAddress..<(copy + 1) * perAddress { links[index] = isShutDown ? .failing(Self.closed) : .hopeful }
        return copy
    }

    func isAbsent(_ index: Int) -> Bool {
        if case .absent = links[index] { true } else { false }
    }

    /// Takes no further connection to a copy until it is added anew.
    /// - Returns: The connections that led to it, and who waited for news.
    mutating func removeCopy(_ copy: Int) -> (connections: [Connection], waiters: [Waiter]) {
        let range = copy * perAddress..<(copy + 1) * perAddress
        let connections = links[range].compactMap { if case .ready(let connection) = $0 { connection } else { nil } }
        for index in range { (links[index], resting[index]) = (.absent, false) }
        return (connections, takeWaiters())
    }

    private static var closed: Fault { Fault(.unavailable, "The client is shut down.") }

    mutating func shutDown() -> (connections: [Connection], waiters: [Waiter]) {
        isShutDown = true
        let connections = links.compactMap { if case .ready(let connection) = $0 { connection } else { nil } }
        links = links.map { _ in Link.failing(Self.closed) }
        return (connections, takeWaiters())
    }

    /// A number under which to wait.
    mutating func newWaiter() -> UInt64 {
        nextWaiter += 1
        return nextWaiter
    }

    /// - Returns: `false` when there is nothing to wait for.
    mutating func wait(_ waiter: Waiter, as number: UInt64) -> Bool {
        guard isHopeful, readyCount == 0 else { return false }
        waiters[number] = waiter
        return true
    }

    mutating func takeWaiter(_ number: UInt64) -> Waiter? { waiters.removeValue(forKey: number) }

    private mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
