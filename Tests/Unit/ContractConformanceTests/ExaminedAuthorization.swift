import AuthorizationService
import Clocks
import ContractConformance
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Faults
import Logging
import OutboundHttp
import PeerDoubles
import Rpc
import Synchronization
import Tokens

/// The authorization service of this checkout in this process, with a mutant around it where there is one.
struct ExaminedAuthorization {
    private let transport = OutboundHttp()
    private let store: SharedStore
    private let server: ExaminedServer

    /// Making an RSA key takes long; the tests share one.
    private static let key = Result { try RSAPrivateKey.generate() }

    init(_ mutant: AuthorizationMutant? = nil) async throws {
        let authority = try TestAuthority()
        var behaviour = DoubleBehaviour()
        behaviour.signedIn = .afterSignIn
        let doubles = try PeerDoubles(at: [:], configuration: try SampleCatalogue.configuration(), behaviour: behaviour, pki: authority.pki)
        let key = try Self.key.get()
        let jwsKeys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate())))
        let certificate = try CertifiedKey.selfSigned(commonName: "media tokens", key: .rsa(key)).certificate
        store = SharedStore()
        let mutant = mutant ?? AuthorizationMutant(description: "none", breaks: [])
        let service = AuthorizationService(
            catalogue: DoubledCatalogue(config: doubles.config, change: mutant.catalogue),
            sessions: mutant.sessions(doubles.authentication), store: mutant.store(store), transport: transport,
            mediaTokens: MediaTokenIssuer(
                referenceKey: ReferenceSigningKey(key), jwsKeys: jwsKeys, pool: SigningPool(threads: 1), clock: SystemClock()),
            publishedKeys: try PublishedMediaTokenKeys(certificates: [certificate], jwsKeys: jwsKeys),
            storedTokenKeys: SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate()))),
            logger: Logger(label: "examined") { _ in SwiftLogNoOpLogHandler() })
        var services = RpcServices()
        AuthorizationMethods.register(AuthorizationDouble(over: service, decide: mutant.decide), in: &services)
        server = try await ExaminedServer(
            .authorization, services, doubles: doubles, authority: authority, patience: mutant.breaks.isEmpty ? .seconds(8) : .seconds(2))
    }

    /// The double that other services are tried with.
    static func double() async throws -> ExaminedServer {
        let authority = try TestAuthority()
        var behaviour = DoubleBehaviour()
        behaviour.signedIn = .afterSignIn
        let key = try key.get()
        let certificate = try CertifiedKey.selfSigned(commonName: "media tokens", key: .rsa(key)).certificate
        let keys = DoubleKeys(
            mediaToken: key, mediaTokenJws: JoseSigningKey(try .generate()), mediaTokenCertificates: try certificate.pem())
        let doubles = try PeerDoubles(
            at: [:], configuration: try SampleCatalogue.configuration(), keys: keys, behaviour: behaviour, pki: authority.pki)
        var services = RpcServices()
        AuthorizationMethods.register(doubles.authorization, in: &services)
        return try await ExaminedServer(.authorization, services, doubles: doubles, authority: authority)
    }

    /// - Parameter forgets: True when a restart loses what was kept.
    func examine(_ ids: [String], forgets: Bool = false) async -> [String: RequirementResult] {
        let results = await server.examine(
            ids,
            restart: { [store] in
                if forgets { store.forgetAll() }
                return nil
            })
        await transport.shutdown()
        return results
    }
}

/// Outlives the service.
final class SharedStore: AuthorizationStore {
    private let tokens = Mutex<[AuthzTokenKey: AuthzToken]>([:])

    func save(_ token: AuthzToken) async throws(Fault) { tokens.withLock { $0[token.key] = token } }

    func token(_ key: AuthzTokenKey, counts: (AuthzToken) -> Bool) async throws(Fault) -> AuthzToken? { tokens.withLock { $0[key] } }

    func forget(expiredBefore moment: Timestamp) async throws(Fault) {}

    func forgetAll() { tokens.withLock { $0 = [:] } }
}
