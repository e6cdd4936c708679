internal import Clocks
internal import Contracts
internal import Doubles
internal import Faults
internal import Foundation
@testable import GatewayAdministration
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import HummingbirdTesting
internal import Logging
internal import Synchronization

/// A gateway with doubles that answer with success until a test changes them.
struct TestGateway: Sendable {
    static let pages = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Services/Gateway/Pages").standardized.path
    /// `{"model":"TV 5th Gen","osName":"tvOS","primaryHardwareType":"SetTopBox","manufacturer":"Apple","version":"5.1"}`
    static let deviceInformation = Data(
        #"{"model":"TV 5th Gen","osName":"tvOS","primaryHardwareType":"SetTopBox","manufacturer":"Apple","version":"5.1"}"#.utf8
    ).base64EncodedString()
    static let deviceQuery = "requestor=ACME1&deviceId=dev-7f3a"

    let authentication = AuthenticationDouble()
    let authorization = AuthorizationDouble()
    let administration = AdministrationDouble()
    let operations = AuthenticationOperationsDouble()
    let autoSignInOperations = AutoSignInOperationsDouble()
    let usage = UsageDouble()
    let autoSignIn = AutomaticSignInDouble()
    let signInWithApple = SignInWithAppleDouble()
    let catalogue: ChangingCatalogue
    let settings: GatewaySettings
    let clock: any MonotonicClock
    let isReady: Bool
    let provider: OpenIDProvider?
    let cluster: ClusterView
    let wall: any WallClock

    init(
        configuration: Configuration? = DemoCatalogue.configuration, trusted: [String] = [], insecureCookies: Bool = false,
        origin: String = "https://tv.example", throttle: ThrottleSettings = TestGateway.unthrottled, clock: any MonotonicClock = SteadyClock(),
        connections: ConnectionLimits = TestGateway.lasting, bodyTimeout: Duration = .seconds(60), tls: HttpsSettings? = nil,
        overload: OverloadSettings = TestGateway.patient, admin: AdministrationSettings = AdministrationSettings(),
        provider: OpenIDProvider? = nil,
        isReady: Bool = true, mvpdProxies: [String] = [], shares: ShareSettings = .unlimited, hosts: [HostSettings] = [],
        signInOrigin: String? = nil, clientPortHeader: String? = nil, signedPlainHTTP: GatewaySettings.SignedPlainHTTP = .strict,
        cluster: ClusterView = ClusterView(), wall: any WallClock = SystemClock()
    ) {
        (self.cluster, self.wall) = (cluster, wall)
        self.clock = clock
        self.isReady = isReady
        self.provider = provider
        catalogue = ChangingCatalogue(configuration)
        settings = GatewaySettings(
            publicOrigin: origin, pages: Self.pages, insecureCookies: insecureCookies, trustedProxies: trusted.compactMap(AddressRange.init),
            bodyTimeout: bodyTimeout, maximumBodyBytes: 8 * 1024, maximumAssertionBytes: 32 * 1024, throttle: throttle, tls: tls,
            connections: connections, overload: overload, admin: admin, signedPlainHTTP: signedPlainHTTP,
            mvpdProxyAddresses: mvpdProxies.compactMap(AddressRange.init), shares: shares, hosts: hosts, signInOrigin: signInOrigin,
            clientPortHeader: clientPortHeader)
        prepare()
    }

    /// Sends one request straight to the routes.
    func send(
        _ method: HTTPRequest.Method, _ uri: String, _ headers: HTTPFields = Self.device, body: String? = nil, over setup: TestingSetup = .router
    ) async throws -> Reply {
        try await exchange(over: setup, at: Self.listenerKind(of: uri)) { client in
            try await client.execute(uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }) { Reply($0) }
        }
    }

    func get(_ uri: String, _ headers: HTTPFields = Self.device) async throws -> Reply { try await send(.get, uri, headers) }

    /// Posts a form.
    func post(_ uri: String, form: String, _ headers: HTTPFields = Self.device) async throws -> Reply {
        var headers = headers
        headers[.contentType] = "application/x-www-form-urlencoded"
        return try await send(.post, uri, headers, body: form)
    }

    /// A slow test machine must not cause refusals.
    static let patient = OverloadSettings(delay: .seconds(10), burst: .seconds(10), leastRequests: 100_000)

    /// Nor may it cost a connection: the client connects first, and its test may have to wait for a processor.
    static let lasting = ConnectionLimits(head: .seconds(120), idle: .seconds(300))

    /// Loopback goes free.
    static let unthrottled = ThrottleSettings(exempt: ["127.0.0.0/8", "::1"].compactMap(AddressRange.init))

    /// - Parameter certificate: For HTTPS; only raw connections can be made then.
    func exchange<Value: Sendable>(
        over setup: TestingSetup = .router, at listenerKind: ListenerKind = .everybody, certificate: HttpsCertificate? = nil,
        _ body: @Sendable (any TestClientProtocol) async throws -> Value
    ) async throws -> Value {
        let gateway = Gateway(WholeApi(try dependencies(), provider: provider))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let application = gateway.application(at: listenerKind, address: .hostname("127.0.0.1", port: 0), certificate: certificate, logger: logger)
        return try await application.test(setup, body)
    }

    private static let loadedPages = Mutex<[String: Pages]>([:])

    /// Read once for each origin: a test of many requests would do little else.
    private static func loaded(_ settings: GatewaySettings) throws -> Pages {
        try loadedPages.withLock { loaded in
            if let pages = loaded[settings.publicOrigin] { return pages }
            let pages = try Pages(folder: settings.pages, publicOrigin: settings.publicOrigin)
            loaded[settings.publicOrigin] = pages
            return pages
        }
    }

    /// Where an address is served.
    private static func listenerKind(of uri: String) -> ListenerKind {
        ["/admin/", "/console", "/reset-tempass/", "/control/v3/degradation/", "/esm/"].contains { uri.hasPrefix($0) } ? .administration : .everybody
    }

    /// Every route of the gateway.
    func routes() throws -> [Route] { try table().routes }

    func table() throws -> RouteTable { WholeApi(try dependencies(), provider: provider).table }

    func faces() throws -> Faces { WholeApi(try dependencies(), provider: provider).faces }

    func dependencies(logger: Logger = Logger(label: "gateway")) throws -> Dependencies {
        Dependencies(
            settings: settings, pages: try Self.loaded(settings), authentication: authentication, authorization: authorization,
            administration: administration, operations: operations, usage: usage, autoSignIn: autoSignIn, signInWithApple: signInWithApple,
            catalogue: catalogue, autoSignInOperations: autoSignInOperations, logger: logger, clock: clock, cluster: cluster, wall: wall,
            isReady: { [isReady] in isReady })
    }

    /// A good bearer, device information, and a wish for JSON.
    static var device: HTTPFields {
        [.authorization: "Bearer good", .accept: "application/json", .deviceInfo: deviceInformation]
    }

    private func prepare() {
        administration.getAdministrator.answer(with: Administrator(name: "ada", role: .editor))
        authentication.verifyAccessToken.answer { request, _ in
            if request.accessToken == "good" { return VerifiedClient(clientID: "c1", requestorIDs: ["ACME1", "ACME2"]) }
            throw Fault(.accessDenied, "The access token is not accepted.")
        }
        let session = Session(
            id: "s1", requestor: "ACME1", mvpd: "NorthCable", userID: String(repeating: "ab", count: 32), expiresAtMilliseconds: 1_930_384_800_123)
        authentication.getSession.answer(with: session)
        authentication.getSessionByCode.answer(with: session)
        authentication.getOwnSessionByCode.answer(with: session)
        authentication.issueStoredToken.answer(with: StoredAuthentication(token: "<signatureInfo>x</signatureInfo>"))
        authentication.identifyDevice.answer(with: IdentifiedDevice(deviceID: "device-1", seal: "sealed-1"))
        authentication.getStoredTokenKeys.answer(with: StoredTokenKeys(jwks: #"{"keys":[]}"#))
        authentication.logout.answer(with: LogoutResponse(ended: 1))
        authentication.createRegistrationCode.answer { request, _ in Self.code(call: request.call, mvpd: request.mvpd) }
        authentication.getRegistrationCode.answer(with: Self.code(call: nil))
        authentication.deleteRegistrationCode.answer(with: DeleteRegistrationCodeResponse())
        authentication.startSignIn.answer(
            with: SignInStart(
                url: "https://idp.example/sso?SAMLRequest=x&RelayState=relay-1234567890abcdef", browserSecret: "s3cret", expiresInSeconds: 900))
        authentication.completeSamlSignIn.answer(with: SignInOutcome(result: .signedIn, redirectURL: "https://acme.example/done"))
        authentication.registerClient.answer(
            with: RegisteredClient(
                clientID: "c1", clientSecret: "shh", issuedAtSeconds: 1_930_384_800, redirectUris: ["https://acme.example/"],
                grantTypes: ["client_credentials"], scopes: ["api:client:v1"]))
        authentication.issueAccessToken.answer(
            with: AccessToken(
                id: "t1", accessToken: "a.b.c", createdAtMilliseconds: 1_930_384_800_123, expiresInSeconds: 21600,
                scopes: ["api:client:v1", "api:client:v2"]))
        authentication.getServiceProviderMetadata.answer(with: ServiceProviderMetadata(document: "<EntityDescriptor/>"))
        let decision = Decision(requestor: "ACME1", mvpd: "NorthCable", resource: "ACME1-NEWS", expiresAtMilliseconds: 1_930_384_800_123)
        authorization.authorize.answer(with: decision)
        authorization.getAuthorization.answer(with: decision)
        authorization.issueMediaToken.answer(
            with: MediaToken(
                requestor: "ACME1", mvpd: "NorthCable", resource: "ACME1-NEWS", userID: "abab", expiresAtMilliseconds: 1_930_384_800_123,
                serializedToken: "PHNpZz4="))
        signInWithApple.startWebSignIn.answer(
            with: WebSignInStart(url: "https://appleid.example/authorize?state=s", browserSecret: "s3cret", expiresInSeconds: 600))
        authorization.getMediaTokenKeys.answer(with: MediaTokenKeys(certificates: "-----BEGIN CERTIFICATE-----\n", jwks: #"{"keys":[]}"#))
    }

    static func code(call: DeviceCall?, mvpd: String = "", used: Bool = false) -> RegistrationCode {
        RegistrationCode(
            id: "0b7c7c1e-6a4b-4a52-9d1b-000000000001", code: "QK7M2XD", requestor: "ACME1", mvpd: mvpd,
            generatedAtMilliseconds: 1_930_384_800_000, expiresAtMilliseconds: 1_930_386_600_000, deviceID: call?.deviceID ?? "",
            device: call?.device, userAgent: call?.userAgent ?? "", originalUserAgent: call?.userAgent ?? "", applicationID: "app1",
            applicationName: "Acme TV", applicationVersion: "1.0", used: used)
    }
}

/// Both sides of the gateway, as the program puts them together.
struct WholeApi {
    let dependencies: Dependencies
    let table: RouteTable
    let faces: Faces

    init(_ dependencies: Dependencies, provider: OpenIDProvider? = nil) {
        self.dependencies = dependencies
        let publicApi = PublicApi(dependencies)
        let administration = AdministrationApi(dependencies, provider: provider)
        table = RouteTable(publicApi.routes + administration.routes, administrationEntrance: administration.entrance)
        faces = Faces(publicApi.faces, administration.faces)
    }
}

extension Gateway {
    init(_ whole: WholeApi) { self.init(whole.dependencies, routes: whole.table, faces: whole.faces) }
}

/// An answer, ready to be looked at.
struct Reply: Sendable {
    let status: Int
    let headers: HTTPFields
    let text: String

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        text = String(buffer: response.body)
    }

    /// The JSON object; empty when the text is no object.
    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:] }

    var isHTML: Bool { headers[.contentType] == "text/html; charset=utf-8" }
}

extension HTTPFields.Element.Name {
    static let deviceInfo = Self("X-Device-Info")!
    static let requestID = Self("Adobe-Request-Id")!
    static let forwardedFor = Self("X-Forwarded-For")!
    static let clientPort = Self("X-Client-Port")!
    static let referrer = Self("Referrer-Policy")!
    static let traceparent = Self("traceparent")!
}

extension HTTPFields {
    /// The same with one field set, or taken away.
    func with(_ name: HTTPFields.Element.Name, _ value: String?) -> HTTPFields {
        var copy = self
        copy[name] = value
        return copy
    }
}
