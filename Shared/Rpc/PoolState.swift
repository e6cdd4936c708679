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
    }

    typealias Waiter = UnsafeContinuation<Void, Never>

    private(set) var links: [Link]
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

    /// The next connection in turn, of the near ones if any of them is up.
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
            let distance = rank + (isNear(connection) ? 0 : 1)
            if distance < choice?.rank ?? .max { choice = (connection, index, distance) }
            if distance == 0 { break }
        }
        guard let choice else { return nil }
        if choice.rank < 4 { next = (choice.index + 1) % links.count }
        return choice.connection
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
        links[index] = link
        return takeWaiters()
    }

    /// - Returns: Whether the link was that connection.
    mutating func lose(_ connection: Connection, at index: Int) -> Bool {
        guard case .ready(let current) = links[index], current === connection else { return false }
        links[index] = .hopeful
        return true
    }

    mutating func shutDown() -> (connections: [Connection], waiters: [Waiter]) {
        isShutDown = true
        let connections = links.compactMap { if case .ready(let connection) = $0 { connection } else { nil } }
        links = links.map { _ in .failing(Fault(.unavailable, "The client is shut down.")) }
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
