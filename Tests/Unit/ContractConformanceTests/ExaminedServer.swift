import ContractConformance
import Logging
import NIOPosix
import PeerDoubles
import Rpc
import Transport

/// Operations of this process, examined over the wire.
struct ExaminedServer {
    private let authority: TestAuthority
    private let server: RpcServer
    private var subject: Subject

    /// - Parameters:
    ///   - doubles: The peers that the examiner plays; they need not listen where the operations call them without the wire.
    ///   - patience: Time limit for an answer that is due at once.
    init(
        _ service: ExaminedService, _ services: RpcServices, doubles: PeerDoubles, authority: TestAuthority, patience: Duration = .seconds(8)
    ) async throws {
        self.authority = authority
        server = RpcServer(
            configuration: RpcServer.Configuration(
                address: RpcAddress(host: "127.0.0.1", port: 0), identity: try TlsIdentity(files: authority.files(service.rawValue)),
                allow: AllowList(Dictionary(uniqueKeysWithValues: services.serviceNames.map { ($0, ["operator.boxoffice"]) })), software: "examined"),
            services: services, group: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "examined") { _ in SwiftLogNoOpLogHandler() })
        let address = try await server.start()
        server.health.setServing()
        subject = Subject(service: service, host: "127.0.0.1", port: address.port, caller: authority.files("operator"))
        subject.peers = doubles
        subject.patience = patience
    }

    /// - Parameters:
    ///   - ids: Those to try.
    ///   - restart: What a restart does to it.
    /// - Returns: The verdict on each.
    func examine(_ ids: [String], restart: @escaping @Sendable () async throws -> Void = {}) async -> [String: RequirementResult] {
        var subject = subject
        subject.restart = restart
        let report = await ConformanceRun(subject, requirements: subject.service.requirements.filter { ids.contains($0.id) }).run()
        await server.drain()
        return Dictionary(uniqueKeysWithValues: report.results.map { ($0.id, $0) })
    }
}
