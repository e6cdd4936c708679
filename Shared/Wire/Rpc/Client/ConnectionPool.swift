internal import Faults
internal import Logging
internal import NIOCore
internal import Synchronization
internal import Frames

/// Keeps connections to each address of a peer, and brings back those that end.
final class ConnectionPool: Sendable {
    let configuration: RpcClient.Configuration
    let metrics: ClientMetrics
    private let group: any EventLoopGroup
    private let eventLoops: [any EventLoop]
    private let logger: Logger
    private let state: Mutex<PoolState<ClientConnection>>
    private let copies: Mutex<Copies>

    /// Where the copies of the peer are, and who keeps the connections to them.
    private struct Copies {
        /// By number of the copy, as in `PoolState`; what was there before for one that is gone.
        var addresses: [RpcAddress]
        var supervisors: [Int: [Task<Void, Never>]] = [:]
        var lookups: [Task<Void, Never>] = []
        var isStopped = false
    }

    init(_ configuration: RpcClient.Configuration, group: any EventLoopGroup, logger: Logger) {
        self.configuration = configuration
        self.group = group
        var logger = logger
        logger[metadataKey: "peer"] = "\(configuration.peerName)"
        self.logger = logger
        metrics = ClientMetrics(peer: configuration.peerName)
        precondition(configuration.connectionsPerAddress > 0, "an address needs a connection")
        eventLoops = Array(group.makeIterator())
        state = Mutex(
            PoolState(count: configuration.addresses.count * configuration.connectionsPerAddress, perAddress: configuration.connectionsPerAddress))
        copies = Mutex(Copies(addresses: configuration.addresses))
    }

    func start() {
        for (copy, address) in configuration.addresses.enumerated() {
            if NameLookup.isLiteral(address.host) {
                supervise(copy: copy)
            } else {
                let lookup = Task { await self.followName(address, copy) }
                copies.withLock { $0.lookups.append(lookup) }
            }
        }
    }

    var readyCount: Int { state.withLock { $0.readyCount } }

    /// Of a connection, by its number.
    private func address(_ index: Int) -> RpcAddress { copies.withLock { $0.addresses[index / configuration.connectionsPerAddress] } }

    func areToOneCopy(_ one: ClientConnection, _ other: ClientConnection) -> Bool { state.withLock { $0.areToOneCopy(one, other) } }

    func recordCall() { state.withLock { $0.budget.recordCall() } }

    func takeRetry() -> Bool { state.withLock { $0.budget.takeRetry() } }

    /// A connection that takes calls; waits only while a first attempt to connect is under way.
    /// - Throws: `unavailable`, `deadline_exceeded`, `cancelled`.
    func connection(otherThan other: ClientConnection?, deadline: ContinuousClock.Instant?) async throws(Fault) -> ClientConnection {
        let patience = ContinuousClock.now.advanced(by: configuration.connectTime)
        let latest = deadline.map { min($0, patience) } ?? patience
        while true {
            let (connection, waiter) = state.withLock { state in
                let connection = state.pick(otherThan: other) { $0.eventLoop.inEventLoop }
                return (connection, connection == nil && state.isHopeful ? state.newWaiter() : nil)
            }
            if let connection { return connection }
            guard let waiter, latest > .now else { throw unreachable(deadline) }
            await news(waiter, until: latest)
            if Task.isCancelled { throw Fault(.cancelled, "The call was cancelled.") }
        }
    }

    /// Closes all connections, after the calls in flight if they end within the drain time.
    func shutDown() async {
        for connection in stop() { await connection.closed() }
    }

    /// As `shutDown`, without waiting.
    @discardableResult
    func stop() -> [ClientConnection] {
        let tasks = copies.withLock { copies in
            copies.isStopped = true
            return copies.lookups + copies.supervisors.values.joined()
        }
        for task in tasks { task.cancel() }
        let (connections, waiters) = state.withLock { $0.shutDown() }
        for waiter in waiters { waiter.resume() }
        for connection in connections { connection.leave() }
        return connections
    }

    private func unreachable(_ deadline: ContinuousClock.Instant?) -> Fault {
        if let deadline, deadline <= .now { return Fault(.deadlineExceeded, "The deadline is over.") }
        let cause = state.withLock { $0.lastFailure }
        return Fault(.unavailable, "\(configuration.peerName) cannot be reached.", retryAfter: configuration.backoff.longest, cause: cause)
    }

    private func news(_ waiter: UInt64, until latest: ContinuousClock.Instant) async {
        let timer = group.next().scheduleTask(in: TimeAmount(ContinuousClock.now.duration(to: latest))) { self.wake(waiter) }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard state.withLock({ $0.wait(continuation, as: waiter) }) else { return continuation.resume() }
                // The timer or the cancellation may have come before there was a waiter to wake.
                if Task.isCancelled || latest <= .now { wake(waiter) }
            }
        } onCancel: {
            wake(waiter)
        }
        timer.cancel()
    }

    private func wake(_ waiter: UInt64) {
        state.withLock { $0.takeWaiter(waiter) }?.resume()
    }
}

// MARK: - Copies

extension ConnectionPool {
    /// Keeps a connection to each copy that the name stands for, now and later.
    /// - Parameter first: Number of the copy that stands for the name until it is known which ones there are.
    private func followName(_ name: RpcAddress, _ first: Int) async {
        var known: [RpcAddress: Int] = [:]
        var failures = 0
        while !Task.isCancelled {
            do {
                let found = try await configuration.lookup(name.host)
                failures = 0
                follow(NameLookup.copies(of: name, found, hadSeveral: !known.isEmpty && known[name] == nil), first, &known)
            } catch {
                failures += 1
                if known.isEmpty {
                    noteFailure(error, first * configuration.connectionsPerAddress, failures)
                } else {
                    // What was known goes on to be tried: a name server that fails says nothing of the peer.
                    logger.debug("rpc.lookup_failed", metadata: ["address": "\(name)", "reason": "\(error)"])
                }
            }
            let delay =
                known.isEmpty ? configuration.backoff.delay(afterFailures: failures, random: .random(in: 0...1)) : configuration.lookupInterval
            try? await Task.sleep(for: delay)
        }
    }

    private func follow(_ found: [RpcAddress], _ first: Int, _ known: inout [RpcAddress: Int]) {
        if known.isEmpty, let one = found.first {
            copies.withLock { $0.addresses[first] = one }
            known[one] = first
            supervise(copy: first)
        }
        for address in found where known[address] == nil { known[address] = add(address) }
        for (address, copy) in known where !found.contains(address) {
            known[address] = nil
            remove(copy)
        }
    }

    private func supervise(copy: Int) {
        let connections = copy * configuration.connectionsPerAddress..<(copy + 1) * configuration.connectionsPerAddress
        copies.withLock { copies in
            guard !copies.isStopped else { return }
            copies.supervisors[copy] = connections.map { index in Task { await self.supervise(index) } }
        }
    }

    private func add(_ address: RpcAddress) -> Int {
        let copy = copies.withLock { copies in
            let former = copies.addresses.indices.first { copies.addresses[$0] == address && copies.supervisors[$0] == nil }
            if former == nil { copies.addresses.append(address) }
            return state.withLock { $0.addCopy(former: former) }
        }
        logger.info("rpc.copy_added", metadata: ["address": "\(address)"])
        supervise(copy: copy)
        return copy
    }

    /// Calls in flight to the copy may finish within the drain time.
    private func remove(_ copy: Int) {
        let (supervisors, address) = copies.withLock { ($0.supervisors.removeValue(forKey: copy) ?? [], $0.addresses[copy]) }
        for supervisor in supervisors { supervisor.cancel() }
        let (connections, waiters) = state.withLock { $0.removeCopy(copy) }
        for waiter in waiters { waiter.resume() }
        for connection in connections {
            metrics.connections.decrement()
            connection.leave()
        }
        logger.info("rpc.copy_removed", metadata: ["address": "\(address)"])
    }
}

// MARK: - Connecting

extension ConnectionPool {
    private func supervise(_ index: Int) async {
        var failures = 0
        while !Task.isCancelled {
            do {
                try await stayConnected(index)
                failures = 0
            } catch {
                failures += 1
                noteFailure(error, index, failures)
            }
            let delay = configuration.backoff.delay(afterFailures: failures, random: .random(in: 0...1))
            try? await Task.sleep(for: delay)
        }
    }

    /// Connects, and returns when the connection has ended or the peer leaves.
    /// - Throws: When it never became ready.
    private func stayConnected(_ index: Int) async throws {
        let (departures, departed) = AsyncStream.makeStream(of: Departure.self)
        let events = ClientConnection.Events(
            opened: { self.add($0, index) },
            departed: { connection, error in
                departed.yield(Departure(wasReady: self.remove(connection, index), error: error))
                departed.finish()
            })
        try await connect(index, events)
        for await departure in departures where !departure.wasReady {
            throw departure.error ?? Fault(.unavailable, "The peer closed the connection before its hello.")
        }
    }

    private struct Departure: Sendable {
        var wasReady: Bool
        var error: (any Error)?
    }

    private func connect(_ index: Int, _ events: ClientConnection.Events) async throws {
        // Those of one address lie on different loops.
        try await ClientConnection.connect(
            to: address(index), configuration, on: eventLoops[index % eventLoops.count], logger: logger, events: events
        ).get()
    }

    private func add(_ connection: ClientConnection, _ index: Int) {
        let waiters = state.withLock { state -> [PoolState<ClientConnection>.Waiter]? in
            state.isShutDown || state.isAbsent(index) ? nil : state.set(.ready(connection), at: index)
        }
        guard let waiters else { return connection.leave() }
        metrics.connections.increment()
        logger.info("rpc.connected", metadata: ["address": "\(address(index))"])
        for waiter in waiters { waiter.resume() }
        guard configuration.followsHealth else { return }
        connection.watchHealth { [weak self, weak connection] isServing in
            guard let connection else { return }
            self?.state.withLock { $0.note(isServing: isServing, of: connection) }
        }
    }

    /// - Returns: Whether it could be used before.
    private func remove(_ connection: ClientConnection, _ index: Int) -> Bool {
        let wasReady = state.withLock { $0.lose(connection, at: index) }
        guard wasReady else { return state.withLock { $0.isShutDown } }
        metrics.connections.decrement()
        logger.info("rpc.disconnected", metadata: ["address": "\(address(index))"])
        return true
    }

    private func noteFailure(_ error: any Error, _ index: Int, _ failures: Int) {
        let waiters = state.withLock { state in state.isShutDown ? [] : state.set(.failing(error), at: index) }
        for waiter in waiters { waiter.resume() }
        guard !Task.isCancelled else { return }
        metrics.connectFailures.increment()
        // The first failure is news; the same again is not.
        logger.log(
            level: failures == 1 ? .warning : .debug, "rpc.connect_failed",
            metadata: ["address": "\(address(index))", "reason": "\(error)", "failures": "\(failures)"])
    }
}
