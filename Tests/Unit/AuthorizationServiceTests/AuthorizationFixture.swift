import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Faults
import Logging
import ManualClocks
import MediaTokenVerifier
import ServiceKit
import Tokens

/// An authorization service between doubles: one requestor, one MVPD with a scripted decision point, one signed-in device.
struct AuthorizationFixture {
    let clock = ManualClock()
    let catalogue: ChangingCatalogue
    /// The sessions that devices have.
    let table = SessionTable()
    let sessions: SessionsDouble
    let transport = ScriptedTransport()
    let store = InMemoryAuthorizationStore()
    let refusalStore = InMemoryRefusalStore()
    let refusals: RefusalNotes
    let identity: CertifiedKey
    /// The metrics.
    let numbers = PrometheusMetrics()
    let jwsKeys: SigningKeys
    let storedTokenKeys: SigningKeys
    /// Signs media tokens.
    let pool = SigningPool(threads: 1)
    let service: AuthorizationService

    /// - Parameters:
    ///   - checked: Id of an upstream whose media tokens are checked; `nil`: all pass.
    ///   - trusted: The certificates with which they are checked; `nil`: the fixture's own.
    ///   - configure: Changes the catalogue before the service starts.
    init(
        identity decisions: DecisionIdentity = DecisionIdentity(), tokensOf checked: String? = nil, trusted: Cryptography.Certificate? = nil,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) throws {
        var configuration = Self.configuration
        configure(&configuration)
        catalogue = ChangingCatalogue(configuration)
        sessions = SessionsDouble(table)
        let key = try Self.key.get()
        identity = try .selfSigned(commonName: "media tokens", key: .rsa(key))
        jwsKeys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate())))
        storedTokenKeys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate())))
        refusals = RefusalNotes(store: refusalStore, clock: clock, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let certificate = trusted ?? identity.certificate
        let check = try checked.map { try UpstreamTokenCheck([$0: [certificate]]) }
        service = AuthorizationService(
            catalogue: catalogue, sessions: sessions, store: store, transport: transport,
            mediaTokens: MediaTokenIssuer(referenceKey: ReferenceSigningKey(key), jwsKeys: jwsKeys, pool: pool, clock: clock),
            publishedKeys: try PublishedMediaTokenKeys(certificates: [identity.certificate], jwsKeys: jwsKeys),
            storedTokenKeys: storedTokenKeys, identity: decisions, refusals: refusals,
            upstreamTokens: check, clock: clock,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), factory: numbers, jitter: { .zero })
        signIn()
    }

    /// Making an RSA key takes long; the tests share one.
    static let key = Result { try RSAPrivateKey.generate() }

    static let configuration = Configuration(
        version: 1,
        requestors: [Requestor(id: "CHAN7", name: "Channel Seven"), Requestor(id: "CHAN8", name: "Channel Eight")],
        mvpds: [
            Mvpd(
                id: "DemoCable",
                // A busy machine must not spend the budget of a step.
                authorization: AuthorizationEndpoint(
                    protocol: .xacmlJson, url: "https://pdp.cable.example/authz", totalTimeoutMilliseconds: 600_000), authzTtlSeconds: 3600),
            Mvpd(id: "OpenTel"),
        ],
        integrations: [
            Integration(requestorID: "CHAN7", mvpdID: "DemoCable", enabled: true),
            Integration(requestorID: "CHAN7", mvpdID: "OpenTel", enabled: true),
            Integration(requestorID: "CHAN8", mvpdID: "DemoCable", enabled: true),
        ])

    /// The device has a session now, in place of any earlier one.
    func signIn(
        device: String = "dev-1", session: String = "session-1", mvpd: String = "DemoCable", proxyMvpd: String = "",
        lifetime: Duration = .seconds(30 * 86_400), kind: SessionKind = .regular, attributes: [UserAttribute] = []
    ) {
        table.put(
            subject(session: session, mvpd: mvpd, proxyMvpd: proxyMvpd, lifetime: lifetime, kind: kind, attributes: attributes), device: device,
            requestor: "CHAN7")
    }

    func subject(
        session: String = "session-1", mvpd: String = "DemoCable", proxyMvpd: String = "", lifetime: Duration = .seconds(30 * 86_400),
        kind: SessionKind = .regular, attributes: [UserAttribute] = []
    ) -> SessionSubject {
        SessionSubject(
            session: Session(
                id: session, requestor: "CHAN7", mvpd: mvpd, proxyMvpd: proxyMvpd, userID: Self.userID,
                expiresAtMilliseconds: UInt64((clock.now() + lifetime).milliseconds), kind: kind),
            upstreamUserID: "subscriber-9", attributes: attributes)
    }

    static let userID = String(repeating: "0f", count: 32)

    func call(device: String = "dev-1", requestor: String = "CHAN7") -> DeviceCall {
        DeviceCall(accessToken: "bearer", requestor: requestor, deviceID: device, clientAddress: "203.0.113.9", userAgent: "Player/1")
    }

    func authorize(_ resource: String = "CHAN7-HD", device: String = "dev-1", requestor: String = "CHAN7", mvpd: String = "") async throws -> Decision
    {
        let request = AuthorizeRequest(call: call(device: device, requestor: requestor), resource: resource, mvpd: mvpd)
        return try await service.authorize(request, context: CallContext())
    }

    func preauthorize(_ resources: String?, device: String = "dev-1") async throws -> Preauthorization {
        let request = PreauthorizeRequest(call: call(device: device), resources: resources.map { ResourceList(text: $0) })
        return try await service.preauthorize(request, context: CallContext())
    }

    /// Puts a rule in force from now on.
    func degrade(
        _ kind: DegradationKind, resources: [String] = [], for span: Duration = .seconds(600), message: String = "", id: String = "rule-1",
        mvpd: String = "DemoCable", platforms: [Platform] = []
    ) {
        let now = clock.now()
        catalogue.change {
            $0.degradationRules.append(
                DegradationRule(
                    id: id, kind: kind, requestorID: "CHAN7", mvpdID: mvpd, resources: resources, platforms: platforms,
                    startsAtMilliseconds: UInt64(now.milliseconds), endsAtMilliseconds: UInt64((now + span).milliseconds), message: message))
        }
    }

    /// The values of a metric of this service by their labels, without those that are zero.
    /// - Parameter metric: Its name behind `boxoffice_authorization_`.
    func counts(_ metric: String) -> [String: Int] {
        numbers.text().split(separator: "\n").reduce(into: [:]) { counts, line in
            let name = line.prefix { $0 != "{" && $0 != " " }
            guard name == "boxoffice_authorization_" + metric, let space = line.lastIndex(of: " ") else { return }
            guard let value = Int(line[line.index(after: space)...]), value != 0 else { return }
            counts[String(line[name.endIndex..<space])] = value
        }
    }

    func token(_ resource: String = "CHAN7-HD", device: String = "dev-1") async throws -> Decision {
        try await service.getAuthorization(ResourceRequest(call: call(device: device), resource: resource), context: CallContext())
    }

    func mediaToken(_ resource: String = "CHAN7-HD", device: String = "dev-1") async throws -> MediaToken {
        try await service.issueMediaToken(ResourceRequest(call: call(device: device), resource: resource), context: CallContext())
    }
}

/// The fault that an operation ends with; `nil` when it succeeds.
func fault(_ operation: () async throws -> some Any) async -> Fault? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return Fault.unexpected(error)
    }
}
