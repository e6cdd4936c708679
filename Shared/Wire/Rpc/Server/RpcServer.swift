internal import CContracts
internal import CProtobufC
internal import ContractRuntime
internal import Contracts
internal import EventLoops
public import Faults
public import Logging
public import NIOCore
internal import NIOPosix
internal import Synchronization
public import Transport

/// Answers calls over TLS. Beside the operations that it is given it offers Health, Reflection and Diagnostics.
public final class RpcServer: Sendable {
    private struct State {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: ServerConnection] = [:]
        var isDraining = false
        var whenEmpty: [CheckedContinuation<Void, Never>] = []
    }

    /// Starts as not serving; the program that starts the server says when it serves.
    public let health: HealthState
    private let configuration: Configuration
    private let core: ServerCore
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    /// - Parameters:
    ///   - services: The offered services.
    ///   - group: Where connections live and handlers run.
    public init(configuration: Configuration, services: RpcServices, group: any EventLoopGroup, logger: Logger) {
        self.configuration = configuration
        self.group = group
        health = HealthState(softwareVersion: configuration.softwareVersion)
        core = ServerCore(services: Self.withPlatform(services, health), configuration: configuration, health: health, logger: logger)
    }

    /// Listens.
    /// - Returns: The address with the port that was taken.
    /// - Throws: `unavailable`, when the port is busy or the address not this machine's.
    public func start() async throws(Fault) -> RpcAddress {
        let listener: any Channel
        do {
            listener = try await bootstrap.bind(host: configuration.address.host, port: configuration.address.port).get()
        } catch {
            throw Fault(.unavailable, "cannot listen on \(configuration.address): \(error)", cause: error)
        }
        let isLate = state.withLock { state in
            state.listener = listener
            return state.isDraining
        }
        if isLate { try? await listener.close() }
        let address = RpcAddress(host: configuration.address.host, port: listener.localAddress?.port ?? configuration.address.port)
        core.logger.info("rpc.listening", metadata: ["address": "\(address)"])
        return address
    }

    /// Connections that are open.
    public var connectionCount: Int { core.connectionCount.value }

    /// Stops listening, lets calls in flight finish within the drain time, closes. Returns when no connection is left.
    public func drain() async {
        health.setNotServing(reason: "shutting down")
        health.endWatches()
        let (listener, connections) = state.withLock { state in
            state.isDraining = true
            return (state.listener, Array(state.connections.values))
        }
        try? await listener?.close()
        for connection in connections { connection.onEventLoop { $0.drain() } }
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.connections.isEmpty { state.whenEmpty.append(continuation) }
                return state.connections.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
        core.logger.info("rpc.drained")
    }

    private static func withPlatform(_ services: RpcServices, _ health: HealthState) -> RpcServices {
        var all = services
        let names = services.serviceNames + [HealthMethods.service, ReflectionMethods.service, DiagnosticsMethods.service]
        HealthMethods.register(health, in: &all)
        ReflectionMethods.register(ReflectionService(services: names), in: &all)
        DiagnosticsMethods.register(DiagnosticsService(), in: &all)
        all.immediate(DiagnosticsMethods.echo) { request, _ in try DiagnosticsService.echoNow(request) }
        return all
    }
}

// MARK: - Connections

extension RpcServer {
    private var bootstrap: ServerBootstrap {
        let high = core.limits.outboundHighWaterMark
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: high / 2, high: high))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.accept(channel) }
            }
    }

    private func accept(_ channel: any Channel) throws {
        let (handshake, endedOne) = core.handshakes.enter(channel.remoteAddress?.ipAddress ?? "") { channel.close(promise: nil) }
        if endedOne { core.metrics.refusedConnections.increment() }
        let connection = ServerConnection(
            core: core, executor: EventLoopExecutor(channel.eventLoop), handshake: handshake, onEnd: { self.forget($0) })
        let isWelcome = state.withLock { state in
            if !state.isDraining { state.connections[ObjectIdentifier(connection)] = connection }
            return !state.isDraining
        }
        core.metrics.connections.increment()
        do {
            guard isWelcome else { throw Fault(.unavailable, "The server is shutting down.") }
            let limits = TlsLimits(handshakeTime: core.limits.handshakeTime, pendingOutboundBytes: core.limits.outboundBytes + core.limits.frameBytes)
            let tls = try TlsHandler(identity: configuration.identity, side: .server, limits: limits)
            try channel.pipeline.syncOperations.addHandlers(tls, connection)
        } catch {
            forget(connection)
            throw error
        }
    }

    private func forget(_ connection: ServerConnection) {
        connection.leavePlace()
        core.metrics.connections.decrement()
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.connections.removeValue(forKey: ObjectIdentifier(connection))
            guard state.connections.isEmpty else { return [] }
            defer { state.whenEmpty = [] }
            return state.whenEmpty
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension RpcServer {
    /// Where a server listens, who it is, and what it spends.
    public struct Configuration: Sendable {
        /// Port 0 takes a free one.
        public var address: RpcAddress
        public var identity: TlsIdentity
        /// Who may call what; empty refuses everyone.
        public var allow: AllowList
        public var limits = RpcServerLimits()
        /// Where the program runs, as its hello says; empty: it does not say.
        public var zone = ""
        /// Calls in flight may go on for this long once the server drains.
        public var drainTime: Duration = .seconds(10)
        /// Name of the program, for peers' logs.
        public var software: String
        public var softwareVersion: String

        public init(address: RpcAddress, identity: TlsIdentity, allow: AllowList, software: String, softwareVersion: String = "0") {
            self.address = address
            self.identity = identity
            self.allow = allow
            self.software = software
            self.softwareVersion = softwareVersion
        }
    }
}

/// Tells a caller what can be called here, without the `.proto` files.
struct ReflectionService: Reflection {
    let services: [String]

    func listServices(_ request: ListServicesRequest, context: CallContext) async throws -> ListServicesResponse {
        ListServicesResponse(services: services)
    }

    func getDescriptorSet(_ request: GetDescriptorSetRequest, context: CallContext) async throws -> GetDescriptorSetResponse {
        GetDescriptorSetResponse(fileDescriptorSet: ContractDescriptors.fileDescriptorSet)
    }
}

/// Sends back what came, for measuring the wire and for trying out deadlines.
struct DiagnosticsService: Diagnostics {
    private static let longestDelay: UInt32 = 60_000
    /// Beyond the content, for the struct and the bookkeeping of unknown fields.
    private static let arenaReserve = 64 * 1024

    func echo(_ request: EchoMessage, context: CallContext) async throws -> EchoMessage {
        guard request.delayMilliseconds <= Self.longestDelay else {
            throw Fault(.invalidRequest, "delay_ms is at most \(Self.longestDelay).")
        }
        if request.delayMilliseconds > 0 { try await Task.sleep(for: .milliseconds(request.delayMilliseconds)) }
        return EchoMessage(content: request.content)
    }

    /// The answer at once when no delay is asked for: it then has the very bytes of the request.
    static func echoNow(_ request: UnsafeRawBufferPointer) throws -> [UInt8]? {
        try delayMilliseconds(request) == 0 ? [UInt8](request) : nil
    }

    /// Decodes the one field that matters, without a copy of the content: this is what the wire is measured with.
    private static func delayMilliseconds(_ request: UnsafeRawBufferPointer) throws(Fault) -> UInt32 {
        let delay = withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { stack -> UInt32? in
            var arena = boxoffice_arena()
            boxoffice_arena_begin(&arena, stack.baseAddress, stack.count, request.count + arenaReserve)
            defer { boxoffice_arena_end(&arena) }
            let bytes = request.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let message = boxoffice_arena_unpack(&arena, boxoffice_platform_v1_EchoMessage_descriptor(), bytes, request.count)
            return message.map { UnsafeRawPointer($0).assumingMemoryBound(to: Boxoffice__Platform__V1__EchoMessage.self).pointee.delay_ms }
        }
        guard let delay else { throw Fault(.invalidMessage, "The bytes are no \(EchoMessage.messageName).") }
        return delay
    }
}
