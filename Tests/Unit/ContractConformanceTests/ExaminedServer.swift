import ContractConformance
import Logging
import NIOPosix
import PeerDoubles
import Rpc
import Synchronization
import Transport

/// Operations of this process, examined over the wire.
struct ExaminedServer {
    private let authority: TestAuthority
    private let listener: Listener
    private var subject: Subject

    /// - Parameters:
    ///   - doubles: The peers that the examiner plays; they need not listen where the operations call them without the wire.
    ///   - patience: Time limit for an answer that is due at once.
    init(
        _ service: ExaminedService, _ services: RpcServices, doubles: PeerDoubles? = nil, authority: TestAuthority, patience: Duration = .seconds(8)
    ) async throws {
        self.authority = authority
        listener = try await Listener(identity: try TlsIdentity(files: authority.files(service.rawValue)), services)
        subject = Subject(service: service, host: "127.0.0.1", port: listener.port, caller: authority.files("operator"))
        subject.peers = doubles
        subject.patience = patience
    }

    /// - Parameters:
    ///   - ids: Those to try.
    ///   - change: Makes a Config service publish another version.
    ///   - restart: The effect of a restart on it; with operations of a new life the old one ends.
    /// - Returns: The verdict on each.
    func examine(
        _ ids: [String], change: (@Sendable () async throws -> Void)? = nil, restart: @escaping @Sendable () async throws -> RpcServices? = { nil }
    ) async -> [String: RequirementResult] {
        var subject = subject
        subject.change = change
        subject.restart = { [listener] in
            if let services = try await restart() { try await listener.restart(services) }
        }
        let report = await ConformanceRun(subject, requirements: subject.service.requirements.filter { ids.contains($0.id) }).run()
        await listener.stop()
        return Dictionary(uniqueKeysWithValues: report.results.map { ($0.id, $0) })
    }
}

/// A server that may be replaced by another at the same port.
private final class Listener: Sendable {
    let port: Int
    private let identity: TlsIdentity
    private let server: Mutex<RpcServer>

    init(identity: TlsIdentity, _ services: RpcServices) async throws {
        self.identity = identity
        let (server, port) = try await Self.start(services, identity, at: 0)
        self.server = Mutex(server)
        self.port = port
    }

    func restart(_ services: RpcServices) async throws {
        await stop()
        let (server, _) = try await Self.start(services, identity, at: port)
        self.server.withLock { $0 = server }
    }

    func stop() async { await server.withLock { $0 }.drain() }

    private static func start(_ services: RpcServices, _ identity: TlsIdentity, at port: Int) async throws -> (RpcServer, Int) {
        var configuration = RpcServer.Configuration(
            address: RpcAddress(host: "127.0.0.1", port: port), identity: identity,
            allow: AllowList(Dictionary(uniqueKeysWithValues: services.serviceNames.map { ($0, ["operator.boxoffice"]) })), software: "examined")
        configuration.drainTime = .seconds(1)
        // Many are examined at once: an examiner may have to wait before it may say hello.
        configuration.limits.helloTime = .seconds(30)
        let server = RpcServer(
            configuration: configuration, services: services, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "examined") { _ in SwiftLogNoOpLogHandler() })
        let address = try await server.start()
        server.health.setServing()
        return (server, address.port)
    }
}
