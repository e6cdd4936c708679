internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import NIOCore
internal import Synchronization
internal import Frames
internal import Transport

/// Keeps connections to the copies of a peer, brings back those that end, and gives each call one.
final class ConnectionPool: Sendable {
    typealias Choice = PoolState<ClientConnection>.Choice
    typealias Instant = ContinuousClock.Instant

    let configuration: RpcClient.Configuration
    let metrics: ClientMetrics
    private let group: any EventLoopGroup
    private let eventLoops: [any EventLoop]
    private let logger: Logger
    private let state: Mutex<PoolState<ClientConnection>>
    private let copies: Mutex<PoolCopies>
    private let lookups: [PeerLookup]

    init(_ configuration: RpcClient.Configuration, group: any EventLoopGroup, logger: Logger) {
        self.configuration = configuration
        self.group = group
        var logger = logger
        logger[metadataKey: "peer"] = "\(configuration.peerName)"
        self.logger = logger
        metrics = ClientMetrics(peer: configuration.peerName)
        precondition(configuration.connectionsPerAddress > 0, "an address needs a connection")
        eventLoops = Array(group.makeIterator())
        lookups = configuration.addresses.map(PeerLookup.host) + configuration.serviceNames.map(PeerLookup.service)
        let places = lookups.map(\.placeholder)
        state = Mutex(PoolState(places.map { CopyState($0) }, perCopy: configuration.connectionsPerAddress, zone: configuration.zone))
        copies = Mutex(PoolCopies(places, caller: configuration.instance))
    }

    func start() {
        for (copy, lookup) in lookups.enumerated() {
            if case .host(let address) = lookup, NameLookup.isLiteral(address.host) {
                copies.withLock { $0.come(FoundCopy(address: address), as: copy) }
            } else {
                let task = Task { await self.follow(lookup, copy) }
                copies.withLock { $0.lookups.append(task) }
            }
        }
        connectToChosen()
    }

    var readyCount: Int { state.withLock { $0.readyCount } }

    var servingCopies: Int { state.withLock { $0.servingCopies } }

    /// Each copy with a connection to it; `nil`: none is ready.
    var everyCopy: [(address: RpcAddress, connection: ClientConnection?)] {
        let found = state.withLock { $0.everyCopy }
        return copies.withLock { copies in found.map { (copies.addresses[$0.copy], $0.connection) } }
    }

    /// The address of a connection, by its number.
    private func address(_ index: Int) -> RpcAddress { copies.withLock { $0.addresses[index / configuration.connectionsPerAddress] } }

    func takeRetry() -> Bool { state.withLock { $0.budget.takeRetry() } }

    /// Closes all connections, after the calls in flight if they end within the drain time.
    func shutDown() async {
        for connection in stop() { await connection.closed() }
    }

    /// As `shutDown`, without waiting.
    @discardableResult
    func stop() -> [ClientConnection] {
        for task in copies.withLock({ $0.stop() }) { task.cancel() }
        let (connections, waiters) = state.withLock { $0.shutDown() }
        for waiter in waiters { waiter.resume() }
        for connection in connections { connection.leave() }
        return connections
    }
}

// MARK: - Calls

extension ConnectionPool {
    /// A connection for a call with one answer; `end` must follow. Waits only while a first attempt to connect is under way.
    /// - Parameter failed: The connection that just failed the call; `nil` for its first attempt.
    /// - Throws: `unavailable`, `deadline_exceeded`, `cancelled`.
    func begin(_ context: CallContext, otherThan failed: Choice? = nil, now: Instant) async throws(Fault) -> Choice {
        let choice = state.withLock { state -> Choice? in
            if failed == nil { state.budget.recordCall() }
            return Self.pick(&state, context, otherThan: failed, now: now, counts: true)
        }
        if let choice { return choice }
        return try await waitForConnection(context, counts: true)
    }

    /// A connection for a stream: it lasts, and says nothing of the load.
    /// - Throws: As `begin`.
    func connection(_ context: CallContext) async throws(Fault) -> ClientConnection {
        let now = Instant.now
        let choice = state.withLock { Self.pick(&$0, context, now: now, counts: false) }
        if let choice { return choice.connection }
        return try await waitForConnection(context, counts: false).connection
    }

    /// A call that got its connection from `begin` is over.
    func end(_ choice: Choice, _ verdict: CallVerdict, nanoseconds: Int64, now: Instant) {
        let microseconds = UInt32(clamping: nanoseconds / 1000)
        let ban = state.withLock { $0.end(choice.copy, verdict, microseconds: microseconds, now: now) }
        if let ban { report(ban) }
    }

    private static func pick(
        _ state: inout PoolState<ClientConnection>, _ context: CallContext, otherThan failed: Choice? = nil, now: Instant, counts: Bool
    ) -> Choice? {
        let choice = state.pick(affinity: context.affinity, otherThan: failed, now: now) { $0.eventLoop.inEventLoop }
        if counts, let choice { state.begin(choice.copy) }
        return choice
    }

    private func waitForConnection(_ context: CallContext, counts: Bool) async throws(Fault) -> Choice {
        let patience = Instant.now.advanced(by: configuration.connectTime)
        let latest = context.deadline.map { min($0, patience) } ?? patience
        while true {
            let (choice, waiter) = state.withLock { state in
                let choice = Self.pick(&state, context, now: .now, counts: counts)
                return (choice, choice == nil && state.isHopeful ? state.newWaiter() : nil)
            }
            if let choice { return choice }
            guard let waiter, latest > .now else { throw unreachable(context.deadline) }
            await news(waiter, until: latest)
            if Task.isCancelled { throw Fault(.cancelled, "The call was cancelled.") }
        }
    }

    private func unreachable(_ deadline: Instant?) -> Fault {
        if let deadline, deadline <= .now { return Fault(.deadlineExceeded, "The deadline is over.") }
        let cause = state.withLock { $0.lastFailure }
        return Fault(.unavailable, "\(configuration.peerName) cannot be reached.", retryAfter: configuration.backoff.longest, cause: cause)
    }

    private func news(_ waiter: UInt64, until latest: Instant) async {
        let timer = group.next().scheduleTask(in: TimeAmount(Instant.now.duration(to: latest))) { self.wake(waiter) }
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

    private func report(_ ban: CopyBan) {
        metrics.bans.increment()
        let address = copies.withLock { $0.addresses[ban.copy] }
        logger.notice(
            "rpc.copy_out",
            metadata: ["address": "\(address)", "reason": "\(ban.reason.rawValue)", "seconds": "\(ban.span.components.seconds)"])
    }
}

// MARK: - Copies

extension ConnectionPool {
    /// Keeps connections to the copies that a look-up finds, now and later.
    /// - Parameter first: Number of the copy that stands for them until it is known which ones there are.
    private func follow(_ lookup: PeerLookup, _ first: Int) async {
        var known: [RpcAddress: Int] = [:]
        var failures = 0
        while !Task.isCancelled {
            var delay = configuration.lookupInterval
            do {
                let hadSeveral = !known.isEmpty && known[lookup.placeholder] == nil
                let (found, timeToLive) = try await lookup.copies(configuration, hadSeveral: hadSeveral)
                failures = 0
                take(found, first, &known)
                if let timeToLive { delay = timeToLive }
            } catch {
                failures += 1
                if known.isEmpty {
                    noteFailure(error, of: state.withLock { $0.links(of: first) }, failures)
                    delay = configuration.backoff.delay(afterFailures: failures, random: .random(in: 0...1))
                } else {
                    // The known addresses go on to be tried: a name server that fails says nothing of the peer.
                    logger.debug("rpc.lookup_failed", metadata: ["address": "\(lookup.placeholder)", "reason": "\(error)"])
                }
            }
            try? await Task.sleep(for: delay)
        }
    }

    private func take(_ found: [FoundCopy], _ first: Int, _ known: inout [RpcAddress: Int]) {
        let before = known
        copies.withLock { copies in
            for copy in found {
                if let number = known[copy.address] {
                    copies.ranks[number] = copy.rank
                    state.withLock { $0.rank(number, copy.rank) }
                } else {
                    let number = known.isEmpty ? first : copies.number(of: copy.address)
                    copies.come(copy, as: number)
                    known[copy.address] = number
                }
            }
            let addresses = Set(found.map(\.address))
            for (address, number) in known where !addresses.contains(address) {
                copies.go(number)
                known[address] = nil
            }
        }
        connectToChosen()
        guard !before.isEmpty else { return }
        for address in known.keys where before[address] == nil { logger.info("rpc.copy_added", metadata: ["address": "\(address)"]) }
        for address in before.keys where known[address] == nil { logger.info("rpc.copy_removed", metadata: ["address": "\(address)"]) }
    }

    /// The peer has so many callers that each is to keep connections to some of its copies only. That holds from then on: who keeps fewer sees fewer callers.
    private func keepSome() {
        guard copies.withLock({ $0.keepSome() }) else { return }
        logger.notice("rpc.keeps_some_copies", metadata: ["copies": "\(PoolCopies.some)"])
        connectToChosen()
    }

    /// Connects to the copies that are to be connected to, and leaves all others. Calls in flight there may finish within the drain time.
    private func connectToChosen() {
        let left = copies.withLock { copies -> [(connections: [ClientConnection], waiters: [PoolState<ClientConnection>.Waiter])] in
            guard !copies.isStopped else { return [] }
            let chosen = copies.chosen
            for number in chosen where copies.supervisors[number] == nil {
                let copy = CopyState(copies.addresses[number], rank: copies.ranks[number])
                let links = state.withLock { state in
                    state.add(copy, as: number)
                    return state.links(of: number)
                }
                copies.supervisors[number] = links.map { index in Task { await self.supervise(index) } }
            }
            return copies.supervisors.keys.filter { !chosen.contains($0) }.map { number in
                for task in copies.supervisors.removeValue(forKey: number) ?? [] { task.cancel() }
                return state.withLock { $0.removeCopy(number) }
            }
        }
        for waiter in left.flatMap(\.waiters) { waiter.resume() }
        for connection in left.flatMap(\.connections) {
            metrics.connections.decrement()
            connection.leave()
        }
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
                noteFailure(error, of: index..<index + 1, failures)
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
        let zone = connection.peerZone
        let waiters = state.withLock { state -> [PoolState<ClientConnection>.Waiter]? in
            state.isShutDown || state.isAbsent(index) ? nil : state.set(.ready(connection), at: index, zone: zone)
        }
        guard let waiters else { return connection.leave() }
        metrics.connections.increment()
        var metadata: Logger.Metadata = ["address": "\(address(index))"]
        if let host = HostName.of(connection.peerNames) { metadata["host"] = "\(host)" }
        logger.info("rpc.connected", metadata: metadata)
        for waiter in waiters { waiter.resume() }
        guard configuration.followsHealth else { return }
        connection.watchHealth { [weak self, weak connection] report in
            guard let self, let connection else { return }
            state.withLock { $0.note(isServing: report.status != .notServing, of: connection) }
            if report.hasManyCallers { keepSome() }
        }
    }

    /// - Returns: True when it could be used before.
    private func remove(_ connection: ClientConnection, _ index: Int) -> Bool {
        let wasReady = state.withLock { $0.lose(connection, at: index) }
        guard wasReady else { return state.withLock { $0.isShutDown } }
        metrics.connections.decrement()
        logger.info("rpc.disconnected", metadata: ["address": "\(address(index))"])
        return true
    }

    private func noteFailure(_ error: any Error, of links: Range<Int>, _ failures: Int) {
        let waiters = state.withLock { state in state.isShutDown ? [] : links.flatMap { state.set(.failing(error), at: $0) } }
        for waiter in waiters { waiter.resume() }
        guard !Task.isCancelled else { return }
        metrics.connectFailures.increment()
        // The first failure is news; the same again is not.
        logger.log(
            level: failures == 1 ? .warning : .debug, "rpc.connect_failed",
            metadata: ["address": "\(address(links.lowerBound))", "reason": "\(error)", "failures": "\(failures)"])
    }
}
