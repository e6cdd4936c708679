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

    /// - Parameter count: Of connections.
    init(count: Int) {
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
    ///   - other: A connection that just failed a call: any other one is better.
    ///   - isNear: Whether a call costs less over the connection.
    mutating func pick(otherThan other: Connection?, isNear: (Connection) -> Bool = { _ in true }) -> Connection? {
        var far: (connection: Connection, index: Int)?
        var spare: Connection?
        for offset in 0..<links.count {
            let index = (next + offset) % links.count
            guard case .ready(let connection) = links[index] else { continue }
            if connection === other {
                spare = connection
            } else if isNear(connection) {
                next = (index + 1) % links.count
                return connection
            } else if far == nil {
                far = (connection, index)
            }
        }
        guard let far else { return spare }
        next = (far.index + 1) % links.count
        return far.connection
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
