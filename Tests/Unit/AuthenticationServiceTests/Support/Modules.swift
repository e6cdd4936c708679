import Catalogue
import Clocks
import ContractRuntime
import Contracts
import CoreMetrics
import Cryptography
import Faults
import Identifiers
import Logging
import OutboundHttp
import Tokens
import UsageCounting

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The four modules, put together as the program does it, on keys and peers that the test controls.
struct Modules: Sendable {
    /// The state that copies of the service share.
    struct Peers: Sendable {
        let issuer: AccessTokenIssuer
        let verifier: AccessTokenVerifier
        let saml: any SamlSignIn & SamlLogout
        let oauthKeys: OAuthKeys
        let secretSeals: SecretSeals
        let storedTokenKeys: SigningKeys
        let storedTokenSeals: StoredTokenSeals
        let serviceTokenKeys: ServiceTokenKeys
        let scrambler: UserIDScrambler
        let clockDoubt: ClockDoubt
        let addresses: SignInAddresses
        /// Carries calls to OAuth providers.
        let provider: any OutboundTransport
        /// Stands behind upstreams; `nil`: none.
        let upstream: (any OutboundTransport)?
        /// Until then devices are asked about that nothing is known of; `nil`: they are not.
        var adoptUntil: Timestamp? = nil
        /// Carries scheduled sign-ins.
        let site: (any OutboundTransport)?
        /// Keeps the numbers of the bridge.
        let numbers: any MetricsFactory
    }

    let environment: AuthenticationEnvironment
    let clients: ClientServices
    let upstreams: UpstreamServices?
    let sessions: SessionServices
    let signIn: SignInServices
    let administration: AdministrationServices
    let tests: TestSignIns

    init(_ peers: Peers, catalogue: any CatalogueSource, store: SqlAuthenticationStore, clock: any WallClock, logger: Logger) {
        environment = AuthenticationEnvironment(
            catalogue: catalogue, store: store, clock: clock, random: SystemRandom(), scrambler: peers.scrambler, keys: peers.oauthKeys,
            activationOrigins: ["http://127.0.0.1:8080"], usage: UsageCounter(clock: clock), clockDoubt: peers.clockDoubt, logger: logger)
        let reports = SignInReports(store: store)
        clients = ClientServices(
            environment, issuer: peers.issuer, verifier: peers.verifier, serviceTokenKeys: peers.serviceTokenKeys,
            secretFolder: ClientSecretFolder(path: nil), secretSeals: peers.secretSeals, clientSecrets: ScriptedProvider.Secrets())
        if let upstream = peers.upstream {
            upstreams = UpstreamServices(
                environment, clients, store: store, transport: upstream, origin: "http://127.0.0.1:8080", adoptUntil: peers.adoptUntil,
                reports: reports, factory: peers.numbers)
        } else {
            upstreams = nil
        }
        let delegates = upstreams?.delegates ?? Delegates()
        sessions = SessionServices(
            environment, clients, storedTokenKeys: peers.storedTokenKeys, storedTokenSeals: peers.storedTokenSeals,
            codeLimits: CodeLimits(perClient: 100_000, perDevice: 100), delegates: delegates)
        tests = TestSignIns(
            environment, clients, saml: peers.saml, addresses: peers.addresses, transport: peers.provider, reports: reports)
        signIn = SignInServices(
            environment, clients, sessions, serviceTokenKeys: peers.serviceTokenKeys, saml: peers.saml, logout: peers.saml,
            addresses: peers.addresses, transport: peers.provider, delegates: delegates, reports: reports, tests: tests)
        administration = AdministrationServices(
            environment, clients, saml: peers.saml, tests: tests, reports: reports, transport: peers.site ?? peers.provider, origin: TestSite.origin,
            traces: upstreams.map { [$0.traces] } ?? [], delegates: delegates)
    }

    /// Calls what the modules registered.
    var caller: any RpcCaller {
        var calls = RegisteredCalls()
        let all = [clients, sessions, signIn, administration] as [any CallRegistration] + (upstreams.map { [$0] } ?? [])
        for module in all { module.register(on: &calls) }
        return calls
    }
}

/// The calls that owners registered, which it makes without a wire: messages are encoded as on it.
struct RegisteredCalls: MethodRegistry, RpcCaller {
    private(set) var names: [String] = []
    private var operations: [String: UnaryOperation] = [:]

    private static func name(_ method: MethodIdentity) -> String { "\(method.service)/\(method.name)" }

    mutating func unary(_ operation: UnaryOperation) {
        names.append(Self.name(operation.method))
        operations[Self.name(operation.method)] = operation
    }

    mutating func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>,
        _ operation: @escaping @Sendable (Request, CallContext) async throws -> AsyncThrowingStream<Item, any Error>
    ) { names.append(Self.name(method.identity)) }

    mutating func immediate<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>,
        _ operation: @escaping @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?
    ) {}

    func call(_ method: MethodIdentity, request: [UInt8], context: CallContext) async throws(Fault) -> [UInt8] {
        guard let operation = operations[Self.name(method)] else { throw Fault(.unimplemented, "Nobody registered \(Self.name(method)).") }
        do {
            let work = try request.withUnsafeBytes { try operation.begin($0) }
            return try await work(context)
        } catch {
            throw Fault.unexpected(error)
        }
    }

    func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>, _ request: Request, context: CallContext
    ) async throws -> AsyncThrowingStream<Item, any Error> {
        throw Fault(.unimplemented, "Nobody registered \(Self.name(method.identity)).")
    }
}
