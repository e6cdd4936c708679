internal import Faults
internal import Logging
internal import NIOCore
internal import Synchronization
internal import Wire

/// Keeps connections to each address of a peer, and brings back those that end.
final class ConnectionPool: Sendable {
    let configuration: RpcClient.Configuration
    let metrics: ClientMetrics
    private let group: any EventLoopGroup
    private let eventLoops: [any EventLoop]
    private let logger: Logger
    private let state: Mutex<PoolState<ClientConnection>>
    private let supervisors = Mutex<[Task<Void, Never>]>([])

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
    }

    func start() {
        supervisors.withLock { supervisors in
            supervisors = (0..<configuration.addresses.count * configuration.connectionsPerAddress).map { index in
                Task { await self.supervise(index) }
            }
        }
    }

    var readyCount: Int { state.withLock { $0.readyCount } }

    /// Of a connection, by its number.
    private func address(_ index: Int) -> RpcAddress { configuration.addresses[index / configuration.connectionsPerAddress] }

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
        for supervisor in supervisors.withLock({ $0 }) { supervisor.cancel() }
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
                // The timer or the cancellation may have come before there was anybody to wake.
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
            state.isShutDown ? nil : state.set(.ready(connection), at: index)
        }
        guard let waiters else { return connection.leave() }
        metrics.connections.increment()
        logger.info("rpc.connected", metadata: ["address": "\(address(index))"])
        for waiter in waiters { waiter.resume() }
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
