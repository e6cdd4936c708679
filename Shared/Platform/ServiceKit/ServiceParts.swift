internal import ContractRuntime
internal import Contracts
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Rpc
internal import ServiceLifecycle
internal import Storage
internal import Synchronization
internal import Transport

/// The parts of a program, collected while it is built.
final class ServiceParts: Sendable {
    private struct State {
        var stores: [Store] = []
        var peers: [String: RpcClient] = [:]
        var background: [BackgroundWork] = []
        var services: [any Service] = []
        var reloads: [@Sendable () async -> Void] = []
        var farewells: [@Sendable () async -> Void] = []
        var stops: [@Sendable () async -> Void] = []
        var certificates: [(use: String, path: String)] = []
        var certificatesThatEnd: [CertificateEnd] = []
        var drain: Duration = .zero
        var offered = RpcServices()
    }

    let identity: TlsIdentity?
    private let state = Mutex(State())
    private let common: CommonSettings
    private let files: SettingsFiles
    private let program: String
    private let logger: Logger

    /// - Throws: `StartFailure` when a TLS file is unusable.
    init(program: String, common: CommonSettings, files: SettingsFiles, logger: Logger) throws(StartFailure) {
        self.program = program
        self.common = common
        self.files = files
        self.logger = logger
        if let tls = common.tls {
            let files = [("wire", files.path(tls.certificate)), ("wire authority", files.path(tls.trustAnchors))]
            state.withLock { $0.certificates = files }
        }
        identity = try common.tls.map { tls throws(StartFailure) in try Self.identity(tls, files) }
    }

    var offered: RpcServices { state.withLock { $0.offered } }
    var reloads: [@Sendable () async -> Void] { state.withLock { $0.reloads } }

    var farewells: [@Sendable () async -> Void] { state.withLock { $0.farewells } }

    func add(store: Store) { state.withLock { $0.stores.append(store) } }
    func add(background: BackgroundWork) { state.withLock { $0.background.append(background) } }
    func add(service: any Service) { state.withLock { $0.services.append(service) } }
    func add(reload: @escaping @Sendable () async -> Void) { state.withLock { $0.reloads.append(reload) } }
    func add(farewell: @escaping @Sendable () async -> Void) { state.withLock { $0.farewells.append(farewell) } }
    func add(stop: @escaping @Sendable () async -> Void) { state.withLock { $0.stops.append(stop) } }
    func add(certificates: [(use: String, path: String)]) { state.withLock { $0.certificates += certificates } }
    var certificates: [(use: String, path: String)] { state.withLock { $0.certificates } }
    var certificatesThatEnd: [CertificateEnd] { state.withLock { $0.certificatesThatEnd } }
    func note(certificatesThatEnd: [CertificateEnd]) { state.withLock { $0.certificatesThatEnd = certificatesThatEnd } }
    func add(drain: Duration) { state.withLock { $0.drain = max($0.drain, drain) } }
    /// The longest of what drains beside the RPC listener.
    var drain: Duration { state.withLock { $0.drain } }
    func offer(_ register: (inout RpcServices) -> Void) { state.withLock { register(&$0.offered) } }

    /// This many copies of each peer can take calls.
    var servingCopies: [(peer: String, count: Int)] {
        state.withLock { $0.peers }.map { name, client in (peer: common.peers[name]?.name ?? name, count: client.servingCopies) }
    }

    func peer(_ name: String) throws(StartFailure) -> RpcClient {
        guard let settings = common.peers[name] else {
            throw files.failure("peers.\(name)", "is missing: this program calls that service; add its addresses and name")
        }
        guard let identity else { throw files.failure("tls", "is missing; 'peers' need it: the wire is always TLS") }
        return state.withLock { state in
            if let known = state.peers[name] { return known }
            var configuration = RpcClient.Configuration(
                addresses: settings.addresses.compactMap { RpcAddress($0) }, peerName: settings.name, identity: identity, software: program,
                softwareVersion: SoftwareVersion.current)
            configuration.serviceNames = settings.serviceNames
            configuration.zone = common.zone ?? ""
            if let bytes = common.limits.frameBytes { configuration.frameBytes = max(bytes, configuration.frameBytes) }
            configuration.followsHealth = true
            configuration.connectionsPerAddress = min(Self.mostConnections, ProcessorShare.count)
            let client = RpcClient(configuration: configuration, group: MultiThreadedEventLoopGroup.singleton, logger: logger)
            state.peers[name] = client
            return client
        }
    }

    /// To one copy of a peer: as many as there are event loops, on small machines.
    private static let mostConnections = 8

    /// In the order of their start; they stop in the opposite one.
    func assembled() -> [any Service] {
        let state = state.withLock { $0 }
        var services: [any Service] = state.stores.map { store in StopAction { await store.close() } }
        services += state.stops.map { StopAction(stop: $0) as any Service }
        services += state.peers.values.map { client in StopAction { await client.shutDown() } as any Service }
        services += state.background.map { $0 as any Service }
        return services + state.services
    }

    private static func identity(_ tls: TlsSettings, _ files: SettingsFiles) throws(StartFailure) -> TlsIdentity {
        let paths = TlsFiles(
            certificate: files.path(tls.certificate), key: files.path(tls.key), trustAnchors: files.path(tls.trustAnchors))
        do throws(TlsError) {
            return try TlsIdentity(files: paths, refused: tls.refusedDigests)
        } catch {
            throw files.failure("tls", "cannot be used: \(error.message)")
        }
    }
}

/// Work without an end of its own.
struct BackgroundWork: Service {
    let name: String
    let work: @Sendable () async throws -> Void

    func run() async throws {
        try await cancelWhenGracefulShutdown { [work] in
            do { try await work() } catch is CancellationError {}
        }
    }
}

/// A part that may come to its end by itself, without the program taking notice.
///
/// A group that is stopping takes a part that ends before its turn for a failure, and cancels all others: calls under way, for example. So one whose work is
/// done waits for its turn.
struct EnduringPart: Service {
    let part: any Service

    func run() async throws {
        try await part.run()
        try? await gracefulShutdown()
    }
}

/// Does nothing until its turn to stop comes.
struct StopAction: Service {
    let stop: @Sendable () async -> Void

    func run() async throws {
        try? await gracefulShutdown()
        await stop()
    }
}
