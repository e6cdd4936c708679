internal import Faults
internal import Logging
internal import NIOPosix
internal import Rpc
internal import ServiceLifecycle
internal import Transport

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
