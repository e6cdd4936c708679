import BridgeClient
import Catalogue
import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Faults
import Identifiers
import Logging
import ManualClocks
import OutboundHttp
import ServiceKit
import Testing
import Tokens

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The service with a clock, a catalogue and an MVPD that the test controls.
struct Rig {
    let clock = ManualClock(t0)
    let catalogue: ChangingCatalogue
    let store: SqlAuthenticationStore
    let saml: ScriptedSaml
    let provider: ScriptedProvider
    let log = LogRecorder()
    let modules: Modules
    let service: AuthenticationClient
    let sessions: SessionsClient
    let logins: LoginsClient
    let operations: AuthenticationOperationsClient
    private let peers: Modules.Peers
    /// The metrics of the bridge.
    let numbers = PrometheusMetrics()
    let statements: SoftwareStatementIssuer
    let serviceTokenKeys: ServiceTokenKeys
    let context = CallContext()

    static let visitAddress = "https://sp.pass.example/adobe-services/logout?handle="
    static let returnAddress = "https://sp.pass.example/adobe-services/logout/oauth"

    /// - Parameters:
    ///   - real: Replaces the scripted SAML profile.
    ///   - site: Where browsers of test users go.
    ///   - sharedRule: The demands on answers at the shared callback.
    ///   - upstream: Stands behind the bridge; `nil`: none.
    ///   - adoptUntil: Until then devices are asked about at the upstream that nothing is known of.
    init(
        _ backend: Backend = .sqlite, saml real: (any SamlSignIn & SamlLogout)? = nil, idpCertificate: [UInt8] = [],
        upstream: (any OutboundTransport)? = nil, adoptUntil: Timestamp? = nil, site: TestSite? = nil, sharedRule: SharedCallbackRule = .open
    ) throws {
        let statementKeys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        let tokenKeys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        statements = SoftwareStatementIssuer(keys: statementKeys, issuer: "config", clock: clock)
        let configuration = TestCatalogue.configuration(statementKeys: statementKeys.keySet.json, idpCertificate: idpCertificate)
        catalogue = ChangingCatalogue(configuration)
        store = try backend.open()
        let logger = Logger(label: "test") { [log] _ in log }
        saml = ScriptedSaml()
        provider = try ScriptedProvider(clock: clock)
        serviceTokenKeys = ServiceTokenKeys(ServiceTokenKeys.Files(current: try TestServiceKey.shared.get()), lead: .seconds(60), clock: clock)
        peers = Modules.Peers(
            issuer: AccessTokenIssuer(keys: tokenKeys, issuer: "sp", audience: "api", clock: clock),
            verifier: AccessTokenVerifier(keys: tokenKeys, issuer: "sp", audience: "api", clock: clock), saml: real ?? saml,
            oauthKeys: try OAuthKeys(.random()), secretSeals: SecretSeals(current: .random()),
            storedTokenKeys: SigningKeys(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate()))),
            storedTokenSeals: try StoredTokenSeals(.random()), serviceTokenKeys: serviceTokenKeys, scrambler: UserIDScrambler(key: .random()),
            clockDoubt: ClockDoubt(logger: logger),
            addresses: SignInAddresses(
                logoutVisit: Self.visitAddress, logoutReturn: Self.returnAddress, oauthCallback: ScriptedProvider.redirectURI,
                oauthCallbackRule: sharedRule),
            provider: provider, upstream: upstream, adoptUntil: adoptUntil, site: site, numbers: numbers)
        modules = Modules(peers, catalogue: catalogue, store: store, clock: clock, logger: logger)
        let caller = modules.caller
        (service, sessions) = (AuthenticationClient(caller: caller), SessionsClient(caller: caller))
        (logins, operations) = (LoginsClient(caller: caller), AuthenticationOperationsClient(caller: caller))
    }

    private var logger: Logger { Logger(label: "test") { [log] _ in log } }

    /// Another copy of the service, on the same store and with the same keys.
    func copy() -> AuthenticationClient { AuthenticationClient(caller: otherModules().caller) }

    func otherModules() -> Modules { Modules(peers, catalogue: catalogue, store: store, clock: clock, logger: logger) }

    // MARK: What an app does

    func statement(_ application: String = "tv") throws -> String {
        try statements.issue(.init(softwareID: "software-\(application)", applicationID: application, applicationName: "App"))
    }

    func register(_ application: String = "tv", redirect: String = "") async throws -> RegisteredClient {
        let request = RegisterClientRequest(softwareStatement: try statement(application), redirectURI: redirect)
        return try await service.registerClient(request, context: context)
    }

    func token(of client: RegisteredClient) async throws -> AccessToken {
        let request = IssueAccessTokenRequest(
            clientID: client.clientID, clientSecret: client.clientSecret, grantType: "client_credentials")
        return try await service.issueAccessToken(request, context: context)
    }

    func bearer(_ application: String = "tv") async throws -> String {
        try await token(of: register(application)).accessToken
    }

    func call(_ bearer: String, requestor: String = "CHAN7", device: String = "dev-7f3a", appID: String = "") -> DeviceCall {
        DeviceCall(accessToken: bearer, requestor: requestor, deviceID: device, appID: appID, device: Sample.device, userAgent: "Player/1")
    }

    func code(_ call: DeviceCall, mvpd: String = "", ttl: UInt32 = 0) async throws -> RegistrationCode {
        let request = CreateRegistrationCodeRequest(call: call, mvpd: mvpd, ttlSeconds: ttl)
        return try await service.createRegistrationCode(request, context: context)
    }

    func session(_ call: DeviceCall) async throws -> Session {
        try await service.getSession(SessionRequest(call: call), context: context)
    }

    func session(byCode code: String, requestor: String = "CHAN7") async throws -> Session {
        try await service.getSessionByCode(SessionByCodeRequest(requestor: requestor, code: code), context: context)
    }

    func logout(_ call: DeviceCall) async throws -> UInt32 {
        try await service.logout(LogoutRequest(call: call), context: context).ended
    }

    /// A session of a TempPass.
    @discardableResult
    func preview(_ call: DeviceCall, mvpd: String = "Preview10", user: String = "", domain: String = "chan7.example") async throws -> Session {
        let request = StartFreePreviewRequest(
            call: call, mvpd: mvpd, domainName: domain, genericData: user.isEmpty ? "" : #"{"email":"\#(user)"}"#)
        return try await service.startFreePreview(request, context: context)
    }

    /// The authorization service's part for a device on trial.
    @discardableResult
    func play(_ resource: String, _ call: DeviceCall, user: String = "") async throws -> TempPassBalance {
        let session = try await session(call)
        let request = SpendTempPassRequest(
            sessionID: session.id, deviceID: call.deviceID, requestor: call.requestor, resource: resource,
            genericData: user.isEmpty ? "" : #"{"email":"\#(user)"}"#)
        return try await sessions.spendTempPass(request, context: context)
    }

    /// The session's facts in the user metadata.
    func facts(_ call: DeviceCall) async throws -> TempPassFacts? {
        let key = SessionKey(device: DeviceID(call.deviceID), requestor: RequestorID(call.requestor))
        let session = try #require(try await store.session(key))
        return try await modules.sessions.trials.facts(of: session, in: catalogue.current())
    }

    // MARK: What an operator does

    /// A rule of CHAN7 and DemoCable that holds from now on.
    func degrade(_ kind: DegradationKind, lasting: Duration = .seconds(3600)) {
        let now = clock.now()
        let rule = DegradationRule(
            id: "rule-1", kind: kind, requestorID: "CHAN7", mvpdID: "DemoCable", startsAtMilliseconds: UInt64(now.milliseconds),
            endsAtMilliseconds: UInt64((now + lasting).milliseconds))
        catalogue.change { $0.degradationRules = [rule] }
    }

    // MARK: What a browser does

    func start(_ request: StartSignInRequest) async throws -> Browser {
        let start = try await service.startSignIn(request, context: context)
        return Browser(start: start, relay: saml.requests.last?.relay.text ?? "")
    }

    func start(
        _ code: String, requestor: String = "CHAN7", mvpd: String = "DemoCable", redirect: String = "https://chan7.example/done"
    ) async throws -> Browser {
        try await start(Rig.startRequest(code, requestor: requestor, mvpd: mvpd, redirect: redirect))
    }

    static func startRequest(
        _ code: String, requestor: String = "CHAN7", mvpd: String = "DemoCable", domain: String? = nil,
        redirect: String = "https://chan7.example/done"
    ) -> StartSignInRequest {
        StartSignInRequest(
            requestor: requestor, mvpd: mvpd, registrationCode: code, domainName: domain ?? "\(requestor.lowercased()).example",
            redirectURL: redirect)
    }

    func finish(_ browser: Browser) async throws -> SignInOutcome {
        try await finish(browser.answer)
    }

    func finish(_ request: CompleteSamlSignInRequest) async throws -> SignInOutcome {
        try await service.completeSamlSignIn(request, context: context)
    }

    /// A whole sign-in that the MVPD accepts.
    @discardableResult
    func signIn(_ call: DeviceCall, mvpd: String = "DemoCable", assertion: String = "_assertion-1") async throws -> RegistrationCode {
        let code = try await code(call)
        let browser = try await start(code.code, requestor: call.requestor, mvpd: mvpd, redirect: "https://\(call.requestor).example/done")
        saml.accept(assertion: assertion)
        #expect(try await finish(browser).result == .signedIn)
        return code
    }
}

/// A browser on its way through a sign-in.
struct Browser {
    let start: SignInStart
    let relay: String

    /// The MVPD's post, with some well-formed base64 as message.
    var answer: CompleteSamlSignInRequest {
        CompleteSamlSignInRequest(
            samlResponse: "PFJlc3BvbnNlLz4=", relayState: relay, relayStatePresent: true, browserSecret: start.browserSecret)
    }
}

/// Expects a fault with that code.
func expectFault(
    _ code: Fault.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("no fault was thrown, expected \(code)", sourceLocation: sourceLocation)
    } catch let fault as Fault {
        #expect(fault.code == code, sourceLocation: sourceLocation)
    } catch {
        Issue.record("not a fault: \(error)", sourceLocation: sourceLocation)
    }
}
