internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Frames
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import Transport

/// The caller's side of one connection.
final class ClientConnection: PeerConnection, @unchecked Sendable {
    /// The events that the pool wants to know; called on the event loop.
    struct Events: Sendable {
        /// Calls can be made.
        var opened: @Sendable (ClientConnection) -> Void
        /// The peer leaves, or the connection ended: no more calls. Once, also when it never opened.
        var departed: @Sendable (ClientConnection, (any Error)?) -> Void
    }

    private enum Order: Sendable {
        case begin(PendingCall)
        case cancel(PendingCall)
    }

    private struct Inbox: Sendable {
        var orders: [Order] = []
        var isScheduled = false
    }

    private let events: Events
    private var calls: [UInt64: PendingCall] = [:]
    /// Nobody's work: it does not keep the connection open.
    private var healthWatch: HealthWatch?
    private var hasDeparted = false
    /// Calls of many tasks are taken over together, so that they share one write.
    private let inbox = Mutex(Inbox())
    private let health = Mutex<HealthReport?>(nil)

    init(_ settings: ConnectionSettings, limits: OutboundLimits, eventLoop: any EventLoop, logger: Logger, events: Events) {
        self.events = events
        super.init(.caller(settings, now: .now), limits: limits, eventLoop: eventLoop, logger: logger)
    }

    // MARK: From any thread

    func begin(_ call: PendingCall) { order(.begin(call)) }

    /// What the peer said of itself last; `nil`: nothing yet, or its health is not followed.
    var lastHealth: HealthReport? { health.withLock { $0 } }

    func cancel(_ call: PendingCall) { order(.cancel(call)) }

    /// Returns when the channel is closed.
    func closed() async {
        try? await eventLoop.flatSubmit { self.context?.channel.closeFuture ?? self.eventLoop.makeSucceededVoidFuture() }.get()
    }

    func leave() {
        eventLoop.execute {
            self.endHealthWatch()
            self.perform(self.machine.drain(now: .now))
            self.settle()
        }
    }

    private func order(_ order: Order) {
        let mustSchedule = inbox.withLock { inbox in
            inbox.orders.append(order)
            defer { inbox.isScheduled = true }
            return !inbox.isScheduled
        }
        if mustSchedule { eventLoop.execute { self.takeOrders() } }
    }

    // MARK: On the event loop

    /// As `begin`, at once; the request is written with the others of this turn of the loop.
    func beginHere(_ call: PendingCall) { start(call) }

    /// Follows the peer's health from now on.
    /// - Parameter report: Called on the event loop.
    func watchHealth(_ report: @escaping @Sendable (HealthReport) -> Void) {
        let watch = HealthWatch { [weak self] told in
            self?.health.withLock { $0 = told }
            report(told)
        }
        healthWatch = watch
        start(watch)
    }

    private func endHealthWatch() {
        guard let watch = healthWatch else { return }
        healthWatch = nil
        giveUp(watch)
    }

    /// Calls that the peer accepts at once.
    var peerCallLimit: Int { Int(machine.peer?.maxCallsInFlight ?? 0) }

    /// Where the peer runs, as its hello says; empty: it does not say.
    var peerZone: String { machine.peer?.zone ?? "" }

    override func willStart() {
        if let host = HostName.of(peerNames) { logger[metadataKey: "host"] = "\(host)" }
    }

    override func receive(_ frame: FrameView) {
        switch frame {
        case .response(let response): receive(response)
        case .streamItem(let item): receive(item)
        case .streamEnd(let end): receive(end)
        default: break
        }
    }

    override func receive(_ request: RequestView) { perform(machine.refuse(.protocolError, "A request to a caller.")) }

    override func perform(call action: ConnectionAction) {
        switch action {
        case .opened: events.opened(self)
        case .peerLeaves(let code, let message):
            logger.info("rpc.peer_leaves", metadata: ["code": "\(code)", "reason": "\(message)"])
            depart(ConnectionEnd(code: code, message: message, isByPeer: true))
            endHealthWatch()
        case .fail(let failure): take(failure.callID)?.fail(failure.fault, mayHaveBegun: failure.mayHaveBegun)
        case .send, .stopWork, .close: break
        }
    }

    /// Before its calls fail: those that are made again must not meet this connection.
    override func willEnd(by actions: [ConnectionAction]) {
        depart(
            actions.lazy.compactMap { action in
                switch action {
                case .peerLeaves(let code, let message): ConnectionEnd(code: code, message: message, isByPeer: true)
                case .close(.refused(let code, let message)): ConnectionEnd(code: code.rawValue, message: message, isByPeer: false)
                default: nil
                }
            }.first)
    }

    private func depart(_ end: ConnectionEnd?) {
        guard !hasDeparted else { return }
        hasDeparted = true
        events.departed(self, lastError ?? end)
    }

    private func takeOrders() {
        let orders = inbox.withLock { inbox in
            defer { inbox = Inbox() }
            return inbox.orders
        }
        for order in orders {
            switch order {
            case .begin(let call): start(call)
            case .cancel(let call): giveUp(call)
            }
        }
        settle()
    }

    private func start(_ call: PendingCall) {
        guard !call.isCancelled else { return call.fail(Self.cancelled, mayHaveBegun: false) }
        let now = Instant.now
        do throws(Fault) {
            call.id = try machine.beginCall(deadline: call.deadline, isStream: call.isStream, now: now)
        } catch {
            return call.fail(error, mayHaveBegun: false)
        }
        if let fault = send(call, now) {
            machine.abandonCall(call.id)
            return call.fail(fault, mayHaveBegun: false)
        }
        calls[call.id] = call
    }

    private func send(_ call: PendingCall, _ now: Instant) -> Fault? {
        call.payload.withUnsafeBytes { bytes in
            do throws(Fault) {
                enqueue(try encoder.prepareRequest(call.head(now: now), payload: bytes))
                return nil
            } catch {
                return error
            }
        }
    }

    private func giveUp(_ call: PendingCall) {
        guard !call.isOver else { return }
        // Not begun yet: it will be handed over in a moment, and end then.
        guard call.id != 0 else { return call.isCancelled = true }
        if take(call.id) != nil { perform(machine.cancelCall(call.id)) }
        call.fail(Self.cancelled, mayHaveBegun: true)
    }

    private func take(_ id: UInt64) -> PendingCall? { calls.removeValue(forKey: id) }

    private static var cancelled: Fault { Fault(.cancelled, "The call was cancelled.") }

    private func receive(_ response: ResponseView) {
        switch machine.receiveResponse(callID: response.callID, isFault: response.isFault) {
        case .deliver: deliver(response)
        case .drop: break
        case .violation(let actions): perform(actions)
        }
    }

    private func deliver(_ response: ResponseView) {
        guard let call = take(response.callID) else { return }
        switch response.outcome {
        case .payload(let bytes): _ = call.deliver(bytes)
        case .fault(let fault): call.fail(fault, mayHaveBegun: fault.code != .overloaded)
        }
    }

    private func receive(_ item: StreamItemView) {
        switch machine.receiveStreamItem(callID: item.callID) {
        case .deliver:
            guard let call = calls[item.callID], !call.deliver(item.payload) else { return }
            _ = take(item.callID)
            perform(machine.cancelCall(item.callID))
        case .drop: break
        case .violation(let actions): perform(actions)
        }
    }

    private func receive(_ end: StreamEnd) {
        switch machine.receiveStreamEnd(callID: end.callID) {
        case .deliver:
            guard let call = take(end.callID) else { return }
            if let fault = end.fault { call.fail(Fault(fault), mayHaveBegun: true) } else { call.end() }
        case .drop: break
        case .violation(let actions): perform(actions)
        }
    }
}

extension ClientConnection {
    /// Begins to connect: TCP, then TLS, then the hello; what becomes of it after TCP is told by the events.
    /// - Returns: Fails when there is no TCP connection; the events then say nothing.
    static func connect(
        to address: RpcAddress, _ configuration: RpcClient.Configuration, on eventLoop: any EventLoop, logger: Logger, events: Events
    ) -> EventLoopFuture<Void> {
        ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectTime))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 512 * 1024, high: 1024 * 1024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let limits = TlsLimits(handshakeTime: configuration.connectTime, pendingOutboundBytes: configuration.outboundBytes)
                    let tls = try TlsHandler(identity: configuration.identity, side: .client(expecting: configuration.peerName), limits: limits)
                    let connection = ClientConnection(
                        settings(configuration), limits: OutboundLimits(bytes: configuration.outboundBytes, slowReaderTime: .seconds(30)),
                        eventLoop: channel.eventLoop, logger: logger, events: events)
                    try channel.pipeline.syncOperations.addHandlers(tls, connection)
                }
            }
            .connect(host: address.host, port: address.port)
            .map { _ in }
    }

    private static func settings(_ configuration: RpcClient.Configuration) -> ConnectionSettings {
        var settings = ConnectionSettings(software: configuration.software, softwareVersion: configuration.softwareVersion)
        settings.zone = configuration.zone
        settings.host = configuration.identity.hostName ?? ""
        settings.instance = configuration.instance
        settings.maxFrameBytes = configuration.frameBytes
        settings.maxCallsInFlight = configuration.callsPerConnection
        settings.helloTimeout = configuration.connectTime
        settings.pingInterval = configuration.pingInterval
        settings.pingTimeout = configuration.pingTimeout
        settings.idleTimeout = nil
        settings.drainTimeout = configuration.drainTime
        return settings
    }
}
