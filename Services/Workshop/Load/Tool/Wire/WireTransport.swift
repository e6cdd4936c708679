internal import ContractRuntime
internal import Faults
public import Logging
internal import NIOCore
public import Rpc
public import Transport

/// Calls over the wire, dealt out to the connections in turn.
///
/// `@unchecked Sendable`: touched on its event loop only.
final class WireTransport: CallTransport, @unchecked Sendable {
    weak var sink: (any CallSink)?
    private let target: WireTarget
    private let methods: [PreparedMethod]
    private let count: Int
    private let eventLoop: any EventLoop
    private let logger: Logger
    private var open: [DirectConnection] = []
    private var opening: [DirectConnection] = []
    private var next = 0
    private var inFlight = 0
    private var capacity = 0
    /// Tickets of the calls with answers that the workload reads.
    private var wanted: Set<Int> = []
    private var isSending = false
    private var isOver = false
    private var failures = 0
    private var ready: EventLoopPromise<Void>?

    /// - Parameters:
    ///   - methods: The methods that the operations of the workload call, in their order.
    ///   - connections: The connections of this worker.
    init(_ target: WireTarget, methods: [PreparedMethod], connections: Int, on eventLoop: any EventLoop, logger: Logger) {
        self.target = target
        self.methods = methods
        count = connections
        self.eventLoop = eventLoop
        self.logger = logger
    }

    /// Connects. Only on the event loop.
    /// - Returns: Fails when one of the connections cannot be opened.
    func connect() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        ready = promise
        for index in 0..<count { dial(target.addresses[index % target.addresses.count]) }
        return promise.futureResult
    }

    private func dial(_ address: RpcAddress) {
        opening.append(DirectConnection(to: address, target.configuration, on: eventLoop, logger: logger, owner: self))
    }

    // MARK: Calls

    var room: Int { capacity - inFlight }

    var openConnections: Int { open.count }

    func send(_ call: Call, ticket: Int, now: Nanoseconds, deadline: Nanoseconds) {
        let connection = pick()
        if call.wantsAnswer { wanted.insert(ticket) }
        inFlight += 1
        isSending = true
        let method = methods[call.operation]
        connection.call(
            method.method, request: call.payload, items: method.streamItems, deadline: .now.advanced(by: .nanoseconds(deadline - now)), ticket: ticket
        )
        isSending = false
    }

    private func pick() -> DirectConnection {
        for _ in 0..<open.count {
            next = next + 1 < open.count ? next + 1 : 0
            if open[next].callsInFlight < open[next].callLimit { break }
        }
        return open[next]
    }

    func shutDown() {
        isOver = true
        for connection in open { connection.leave() }
        open = []
    }
}

extension WireTransport: DirectConnectionOwner {
    func directConnectionOpened(_ connection: DirectConnection) {
        opening.removeAll { $0 === connection }
        guard !isOver else { return connection.leave() }
        failures = 0
        open.append(connection)
        capacity += connection.callLimit
        if open.count == count {
            ready?.succeed()
            ready = nil
        }
        sink?.transportChanged()
    }

    func directConnection(_ connection: DirectConnection, answered ticket: Int, payload: UnsafeRawBufferPointer, octets: Int) {
        inFlight -= 1
        let isWanted = !wanted.isEmpty && wanted.remove(ticket) != nil
        sink?.ended(ticket, isWanted ? Answer(body: [UInt8](payload)) : .none, bytes: octets)
    }

    func directConnection(_ connection: DirectConnection, failed ticket: Int, _ fault: Fault) {
        inFlight -= 1
        wanted.remove(ticket)
        let code = connection.isOpen || fault.code != .unavailable ? fault.code.rawValue : "connection_lost"
        let answer = Answer(failure: fault.code == .deadlineExceeded ? "timeout" : code, message: fault.message)
        if isSending {
            // The call failed before it was sent; the sender must not be told before `send` returns.
            eventLoop.execute { self.sink?.ended(ticket, answer, bytes: 0) }
        } else {
            sink?.ended(ticket, answer, bytes: 0)
        }
    }

    func directConnectionClosed(_ connection: DirectConnection, _ error: (any Error)?) {
        opening.removeAll { $0 === connection }
        if let index = open.firstIndex(where: { $0 === connection }) {
            open.remove(at: index)
            next = 0
            capacity -= connection.callLimit
        }
        guard !isOver else { return }
        if let ready {
            self.ready = nil
            isOver = true
            return ready.fail(error ?? WireFailure.closedBeforeHello)
        }
        failures += 1
        sink?.transportChanged()
        let delay = TimeAmount.milliseconds(Int64(min(1000, 50 << min(failures, 5))))
        eventLoop.assumeIsolated().scheduleTask(in: delay) {
            guard !self.isOver else { return }
            self.dial(self.target.addresses[self.failures % self.target.addresses.count])
        }
    }
}

/// No connection came about for one of these reasons, where the transport names no reason.
enum WireFailure: Error {
    case closedBeforeHello
}

/// A service that is called over the wire.
public struct WireTarget: Sendable {
    /// Copies of it; connections are dealt out to them in turn.
    public var addresses: [RpcAddress]
    /// The DNS SAN of its certificate.
    public var peerName: String
    /// The tool's own identity.
    public var identity: TlsIdentity
    var configuration: RpcClient.Configuration

    /// - Parameter callsPerConnection: In flight at once at most; the service may accept fewer.
    public init(
        addresses: [RpcAddress], peerName: String, identity: TlsIdentity, callsPerConnection: Int = 1024, connectTime: Duration = .seconds(5)
    ) {
        self.addresses = addresses
        self.peerName = peerName
        self.identity = identity
        configuration = RpcClient.Configuration(addresses: addresses, peerName: peerName, identity: identity, software: "boxoffice-load")
        configuration.callsPerConnection = callsPerConnection
        configuration.connectTime = connectTime
        configuration.frameBytes = 64 * 1024 * 1024
    }
}

/// Puts load on a service over the wire.
public struct WireLoad: ServiceLoad {
    private let target: WireTarget
    private let methods: [PreparedMethod]
    private let plan: RunPlan
    private let logger: Logger

    /// - Parameter methods: At least one.
    public init(_ target: WireTarget, methods: [PreparedMethod], plan: RunPlan, logger: Logger) {
        self.target = target
        self.methods = methods
        self.plan = plan
        self.logger = logger
    }

    public func run(
        begun: @Sendable (LoadRun, ContinuousClock.Instant) -> Void, progress: @Sendable (LoadRun.Progress) -> Void
    ) async throws -> RunMeasurement {
        let (target, methods, workers, logger) = (target, methods, plan.workers, logger)
        return try await WorkerLoops.run(plan, begun: begun, progress: progress) { _, connections, loop in
            let transport = WireTransport(target, methods: methods, connections: connections, on: loop, logger: logger)
            return (transport, transport.connect())
        } workload: {
            MethodMix(methods, worker: $0, workers: workers)
        }
    }
}
