#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import EventLoops
internal import Faults
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Rpc
public import ServiceLifecycle
internal import Synchronization
internal import Transport

/// HTTP for operators: `/metrics`, `/healthz` and `/readyz`. `/healthz` says that the process answers. `/readyz` says that it can do its work. It is
/// 503 and reasons when not, and with 200 a line for each thing that operators are to know.
struct DebugListener: Service {
    let endpoint: Endpoint
    let metrics: PrometheusMetrics
    let readiness: Readiness
    let logger: Logger
    /// Called with the port that is listened on.
    var onListening: @Sendable (Int) -> Void = { _ in }

    func run() async throws {
        let shield = ListenerShield()
        let application = Application(
            router: router(), server: .http1(configuration: .init(additionalChannelHandlers: [OneProtocol()])),
            configuration: ApplicationConfiguration(address: .hostname(endpoint.address, port: Int(endpoint.port))),
            onServerRunning: { channel in
                shield.markBegun()
                let port = channel.localAddress?.port ?? Int(endpoint.port)
                logger.info("debug.listening", metadata: ["address": "\(endpoint.address)", "port": "\(port)"])
                onListening(port)
            },
            logger: quiet)
        do {
            try await shield.run(application)
        } catch let error as IOError {
            throw StartFailure.cannotListen(key: "debug", endpoint, error)
        }
    }

    /// Hummingbird tells of its own start at `info`.
    private var quiet: Logger {
        var logger = logger
        logger.logLevel = max(.warning, logger.logLevel)
        return logger
    }

    func router() -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("metrics") { _, _ in
            Self.answer(.ok, metrics.text() + ProcessMetrics.text(), type: "text/plain; version=0.0.4; charset=utf-8")
        }
        router.get("healthz") { _, _ in Self.answer(.ok, "ok\n") }
        router.get("readyz") { _, _ in
            let lacking = readiness.lacking
            if lacking.isEmpty { return Self.answer(.ok, "ready\n" + readiness.degraded.map { "degraded: \($0)\n" }.joined()) }
            return Self.answer(.serviceUnavailable, lacking.joined(separator: "\n") + "\n")
        }
        return router
    }

    private static func answer(_ status: HTTPResponse.Status, _ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension StartFailure {
    static func cannotListen(key: String, _ endpoint: Endpoint, _ error: any Error) -> StartFailure {
        let reason = (error as? IOError)?.errnoCode == EADDRINUSE ? "the port is in use; stop its owner or choose another port" : "\(error)"
        return StartFailure("\(key): cannot listen on \(endpoint): \(reason)")
    }
}

/// Keeps a web server from being cancelled, and from being asked to stop before it listens.
///
/// Either would end the process by a trap where Hummingbird has accepted a connection and not begun to serve it. SwiftNIO insists that each channel
/// is taken to its end. So the server runs in a task of its own, and is asked to stop once it listens. This holds also when its runner is cancelled,
/// for example because another listener of the program has found its port in use.
public final class ListenerShield: Sendable {
    private struct State {
        var listens = false
        var group: ServiceGroup?
        var mustStop = false
    }

    /// The server of a cancelled task may take this long to stop.
    private static let patience: Duration = .seconds(2)
    private let state = Mutex(State())

    public init() {}

    /// To be called when the server listens.
    public func markBegun() { stopWhenDue { $0.listens = true } }

    /// Runs the server, which tells of its start by `markBegun`, once.
    /// - Throws: The error of the server; `CancellationError` when this task was cancelled and the server does not stop within 2 s.
    public func run(_ server: any Service) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [server], logger: Logger(label: "listener") { _ in SwiftLogNoOpLogHandler() }))
        state.withLock { $0.group = group }
        let end = FirstResult<Void>()
        Task.detached {
            do {
                try await group.run()
                end.come(.success(()))
            } catch {
                end.come(.failure(error))
            }
        }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await end.wait()
            } onGracefulShutdown: { [self] in
                stopWhenDue { $0.mustStop = true }
            }
        } onCancel: { [self] in
            stopWhenDue { $0.mustStop = true }
            Task.detached {
                try await Task.sleep(for: Self.patience)
                end.come(.failure(CancellationError()))
            }
        }
    }

    private func stopWhenDue(_ change: (inout State) -> Void) {
        let due = state.withLock { state -> ServiceGroup? in
            change(&state)
            guard state.listens, state.mustStop else { return nil }
            defer { state.group = nil }
            return state.group
        }
        if let due { Task.detached { await due.triggerGracefulShutdown() } }
    }
}

/// Serves RPC until its turn to stop comes, then lets calls in flight finish.
struct RpcListener: Service {
    let server: RpcServer
    let endpoint: Endpoint
    let readiness: Readiness
    private let listening = Milestone()

    init(
        program: String, endpoint: Endpoint, identity: TlsIdentity, common: CommonSettings, services: RpcServices, readiness: Readiness,
        logger: Logger
    ) {
        var configuration = RpcServer.Configuration(
            address: RpcAddress(host: endpoint.address, port: Int(endpoint.port)), identity: identity,
            allow: AllowList(common.allow.mapValues(Set.init)), software: program, softwareVersion: SoftwareVersion.current)
        configuration.limits = common.limits.server
        configuration.zone = common.zone ?? ""
        if let seconds = common.limits.drainSeconds { configuration.drainTime = .seconds(seconds) }
        server = RpcServer(configuration: configuration, services: services, group: MultiThreadedEventLoopGroup.singleton, logger: logger)
        self.endpoint = endpoint
        self.readiness = readiness
        readiness.require("rpc") { [listening] in listening.isReached ? nil : "not listening yet" }
    }

    func run() async throws {
        do throws(Fault) {
            _ = try await server.start()
        } catch {
            throw StartFailure.cannotListen(key: "listen", endpoint, error.cause ?? error)
        }
        listening.reach()
        await withDiscardingTaskGroup { group in
            group.addTask { await report() }
            try? await gracefulShutdown()
            group.cancelAll()
        }
        await server.drain()
    }

    /// Tells peers at once that this program is not ready; it goes on to serve them.
    func announceStop() { server.health.setNotServing(reason: readiness.lacking.joined(separator: "; ")) }

    /// Tells peers whether this program can do its work; they route around it while it cannot.
    private func report() async {
        while !Task.isCancelled {
            let lacking = readiness.lacking
            if lacking.isEmpty { server.health.setServing() } else { server.health.setNotServing(reason: lacking.joined(separator: "; ")) }
            // The answer may be wrong already, where the program begins to stop.
            guard lacking == readiness.lacking else { continue }
            try? await Task.sleep(for: .milliseconds(lacking.isEmpty ? 250 : 20))
        }
    }
}

extension LimitSettings {
    /// The wire's limits with what the settings say instead.
    var server: RpcServerLimits {
        var limits = RpcServerLimits()
        if let frameBytes { limits.frameBytes = frameBytes }
        if let callsPerConnection { limits.callsPerConnection = callsPerConnection }
        if let callsPerMethod { limits.callsPerMethodInAll = callsPerMethod }
        if let connections { limits.connections = connections }
        if let handshakes { limits.handshakes = handshakes }
        if let handshakesPerAddress { limits.handshakesPerAddress = handshakesPerAddress }
        if let handshakeSeconds { limits.handshakeTime = .seconds(handshakeSeconds) }
        if let idleSeconds { limits.idleTime = .seconds(idleSeconds) }
        return limits
    }
}
