internal import ContractRuntime
public import Contracts
public import Cryptography
public import Faults
internal import Foundation
internal import Logging
public import NIOCore
public import NIOPosix
public import Rpc
internal import Synchronization
public import Tokens
public import Transport

/// In-memory doubles of the services, served over the real wire protocol: a service with these peers runs without any other program.
///
/// The doubles share their state: the authorization double denies a device that the authentication double signed out.
public final class PeerDoubles: Sendable {
    /// A service that others call.
    public enum Peer: String, CaseIterable, Hashable, Sendable {
        case config
        case authentication
        case authorization
        case autosignin

        /// Name in its certificate.
        public var certificateName: String { "\(rawValue).boxoffice" }
    }

    public let config: InMemoryConfig
    public let authentication: InMemoryAuthentication
    public let authorization: InMemoryAuthorization
    public let autoSignIn: InMemoryAutoSignIn
    private let servers: [Peer: RpcServer]
    private let bound = Mutex<[Peer: RpcAddress]>([:])

    /// - Parameters:
    ///   - addresses: The services to stand in for, with their addresses; port 0 takes a free one.
    ///   - configuration: The configuration that the config double serves.
    ///   - pki: Has a certificate of each of them.
    ///   - group: Where connections live; by default one of this process.
    /// - Throws: `Fault` when the configuration cannot be encoded, `TlsError` naming a certificate that cannot be used.
    public init(
        at addresses: [Peer: RpcAddress], configuration: Configuration, keys: DoubleKeys = DoubleKeys(),
        behaviour: DoubleBehaviour = DoubleBehaviour(),
        pki: PeerPki, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws {
        config = try InMemoryConfig(configuration, statementKey: keys.statement)
        authentication = InMemoryAuthentication(config: config, behaviour: behaviour)
        authorization = InMemoryAuthorization(sessions: authentication, keys: keys)
        autoSignIn = InMemoryAutoSignIn(sessions: authentication)
        let disturbance = Disturbance(behaviour)
        var servers: [Peer: RpcServer] = [:]
        for (peer, address) in addresses {
            let services = Self.services(of: peer, config, authentication, authorization, autoSignIn, disturbance)
            var configuration = RpcServer.Configuration(
                address: address, identity: try TlsIdentity(files: pki.files(of: peer.rawValue)),
                allow: AllowList(Dictionary(uniqueKeysWithValues: services.serviceNames.map { ($0, pki.callers) })),
                software: "double of \(peer.rawValue)", softwareVersion: "1")
            configuration.limits.callsPerConnection = Self.callsPerConnection
            configuration.limits.callsPerMethodInAll = Self.callsPerMethod
            configuration.drainTime = .seconds(1)
            servers[peer] = RpcServer(
                configuration: configuration, services: services, group: group,
                logger: Logger(label: "double", factory: { _ in SwiftLogNoOpLogHandler() }))
        }
        self.servers = servers
    }

    /// More than a service has in flight: the doubles must not limit the service that is measured.
    private static let callsPerConnection = 16_384
    private static let callsPerMethod = 65_536

    /// Listens and serves.
    /// - Returns: The addresses with the ports that were taken.
    /// - Throws: `unavailable` naming the address that is in use; the others are closed again.
    @discardableResult
    public func start() async throws(Fault) -> [Peer: RpcAddress] {
        do throws(Fault) {
            for (peer, server) in servers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let address = try await server.start()
                bound.withLock { $0[peer] = address }
                server.health.setServing()
            }
        } catch {
            await stop()
            throw error
        }
        return addresses
    }

    /// Where the doubles listen, once they do.
    public var addresses: [Peer: RpcAddress] { bound.withLock { $0 } }

    /// Ends streams, closes connections.
    public func stop() async {
        config.disconnectWatchers()
        await withTaskGroup { group in
            for server in servers.values { group.addTask { await server.drain() } }
        }
    }

    private static func services(
        of peer: Peer, _ config: InMemoryConfig, _ authentication: InMemoryAuthentication, _ authorization: InMemoryAuthorization,
        _ autoSignIn: InMemoryAutoSignIn, _ disturbance: Disturbance?
    ) -> RpcServices {
        func register(_ registry: inout some MethodRegistry) {
            switch peer {
            case .config:
                ConfigMethods.register(config, in: &registry)
                registry.immediate(ConfigMethods.getConfiguration) { _, _ in config.encoded }
            case .authentication:
                AuthenticationMethods.register(authentication, in: &registry)
                SessionsMethods.register(authentication, in: &registry)
                registry.immediate(SessionsMethods.findSession) { bytes, _ in
                    try authentication.findSessionNow(SessionRequest(serialized: bytes)).serialized()
                }
                LoginsMethods.register(authentication, in: &registry)
                AuthenticationOperationsMethods.register(authentication, in: &registry)
            case .authorization: AuthorizationMethods.register(authorization, in: &registry)
            case .autosignin:
                AutomaticSignInMethods.register(autoSignIn, in: &registry)
                SignInWithAppleMethods.register(autoSignIn, in: &registry)
            }
        }
        guard let disturbance else {
            var services = RpcServices()
            register(&services)
            return services
        }
        var disturbed = DisturbedServices(disturbance: disturbance)
        register(&disturbed)
        return disturbed.services
    }
}

/// A folder with the certificates of peers, as `boxoffice pki` makes it: `ca.crt`, and `NAME.crt`, `NAME.key` for each.
public struct PeerPki: Hashable, Sendable {
    public var folder: String
    /// Names of the callers that the doubles let in.
    public var callers: Set<String>

    public init(
        folder: String,
        callers: Set<String> = [
            "config.boxoffice", "authentication.boxoffice", "authorization.boxoffice", "autosignin.boxoffice", "gateway.boxoffice",
            "operator.boxoffice",
        ]
    ) {
        self.folder = folder
        self.callers = callers
    }

    /// - Parameter name: Such as `config` or `operator`.
    public func files(of name: String) -> TlsFiles {
        TlsFiles(certificate: path("\(name).crt"), key: path("\(name).key"), trustAnchors: path("ca.crt"))
    }

    /// The path of a file of the folder.
    public func path(_ file: String) -> String { URL(fileURLWithPath: folder).appendingPathComponent(file).path }
}

/// Delays and errors of a double, at fixed intervals rather than at random.
final class Disturbance: Sendable {
    private let latency: Duration
    private let errors: Double
    private let calls = Counter()

    /// - Returns: `nil` when nothing is to be disturbed.
    init?(_ behaviour: DoubleBehaviour) {
        guard behaviour.latency > .zero || behaviour.errors > 0 else { return nil }
        latency = behaviour.latency
        errors = min(1, behaviour.errors)
    }

    /// - Throws: `unavailable` for its share of the calls, after the wait.
    func step() async throws {
        let number = Double(calls.next())
        if latency > .zero { try await Task.sleep(for: latency) }
        guard (number * errors).rounded(.down) > ((number - 1) * errors).rounded(.down) else { return }
        throw Fault(.unavailable, "The double fails on purpose.", retryAfter: .milliseconds(50))
    }
}

/// Takes operations and offers them disturbed.
struct DisturbedServices: MethodRegistry {
    private(set) var services = RpcServices()
    let disturbance: Disturbance

    mutating func unary(_ operation: UnaryOperation) {
        services.unary(operation.preceded { [disturbance] _ in try await disturbance.step() })
    }

    mutating func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<Item, any Error>
    ) {
        services.stream(method, operation)
    }

    /// Immediate answers are not offered: they could not be delayed.
    mutating func immediate<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?
    ) {}
}

/// The signing keys of doubles; a double without one does not issue what the key would sign.
public struct DoubleKeys: Sendable {
    /// Signs software statements.
    public var statement: JoseSigningKey?
    /// Sign media tokens in the reference form and as JWS.
    public var mediaToken: RSAPrivateKey?
    public var mediaTokenJws: JoseSigningKey?
    /// Verify the reference form, PEM.
    public var mediaTokenCertificates: String

    public init(
        statement: JoseSigningKey? = nil, mediaToken: RSAPrivateKey? = nil, mediaTokenJws: JoseSigningKey? = nil, mediaTokenCertificates: String = ""
    ) {
        self.statement = statement
        self.mediaToken = mediaToken
        self.mediaTokenJws = mediaTokenJws
        self.mediaTokenCertificates = mediaTokenCertificates
    }
}
