internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Foundation
internal import SamlResponder

/// NorthCable, played by the examiner: the implementation's catalogue names the examiner's addresses and certificate. So is LakeTel, which has no
/// logout.
struct TestMvpd: Sendable {
    static let id = "NorthCable"
    static let neighbour = "LakeTel"
    static let address = "https://mvpd.conformance.example"
    static let subscriber = PlayedMvpd.Subscriber(
        nameID: "conformance-subscriber", householdID: "conformance-household", channels: ["ACME1-NEWS"])

    /// One for the whole process: generating a key can take seconds.
    private static let pair = Result<CertifiedKey, any Error> {
        try CertifiedKey.selfSigned(commonName: "mvpd.conformance.example", key: .rsa(try RSAPrivateKey.generate()))
    }
    private static let strangersKey = Result<RSAPrivateKey, any Error> { try RSAPrivateKey.generate() }

    let app: TestApp
    let mvpd: PlayedMvpd
    let neighbour: PlayedMvpd
    /// An MVPD of the same name with a key that is not pinned.
    let impostor: PlayedMvpd

    /// A sign-in that waits for the MVPD's answer.
    struct Pending: Sendable {
        let device: String
        let code: String
        let request: AuthnRequestFacts
        let relayState: String
        let browserSecret: String
    }

    /// Does the work while the implementation uses the examiner as NorthCable.
    static func play(_ examination: Examination, _ work: (TestMvpd) async throws -> Void) async throws {
        let pair = try pair.get()
        guard case .rsa(let key) = pair.key else { throw NotApplicable("the examiner has no RSA key") }
        let entityID = "\(address)/metadata"
        let app = try await TestApp(examination)
        let played = TestMvpd(
            app: app, mvpd: PlayedMvpd(entityID: entityID, key: key), neighbour: PlayedMvpd(entityID: "\(address)/neighbour", key: key),
            impostor: PlayedMvpd(entityID: entityID, key: try strangersKey.get()))
        let change: (inout Configuration) -> Void = { configuration in
            for index in configuration.mvpds.indices where [id, neighbour].contains(configuration.mvpds[index].id) {
                guard case .saml(var endpoint) = configuration.mvpds[index].signIn else { continue }
                guard configuration.mvpds[index].id == id else {
                    endpoint.idpEntityID = "\(address)/neighbour"
                    (endpoint.ssoURL, endpoint.logoutURL, endpoint.plainLogout) = ("\(address)/neighbour/sso", "", nil)
                    (endpoint.signaturePolicy, endpoint.encryption) = (.assertion, .optional)
                    endpoint.signingCertificates = [pair.certificate.der]
                    configuration.mvpds[index].signIn = .saml(endpoint)
                    continue
                }
                endpoint.idpEntityID = entityID
                endpoint.ssoURL = "\(address)/sso"
                endpoint.logoutURL = "\(address)/slo"
                endpoint.signingCertificates = [pair.certificate.der]
                configuration.mvpds[index].signIn = .saml(endpoint)
            }
        }
        try await examination.peers().withCatalogue(change, until: { try await app.begin(at: id).start.url.hasPrefix("\(address)/sso") }) {
            try await work(played)
        }
    }

    /// Sends a browser to the MVPD.
    func begin() async throws -> Pending {
        let (device, code, start) = try await app.begin(at: Self.id)
        return try Self.pending(start, device, code)
    }

    static func pending(_ start: SignInStart, _ device: String, _ code: String) throws -> Pending {
        func parameter(_ name: String) -> String? {
            guard start.fields.isEmpty else { return start.fields.first { $0.name == name }?.value }
            return URLComponents(string: start.url)?.queryItems?.first { $0.name == name }?.value
        }
        let request = parameter("SAMLRequest") ?? ""
        guard let facts = start.fields.isEmpty ? AuthnRequestFacts(redirect: request) : AuthnRequestFacts(profileRequest: request) else {
            throw Unmet("a SAMLRequest with ID, AssertionConsumerServiceURL and Issuer", came: FrameText.text(start))
        }
        return Pending(
            device: device, code: code, request: facts, relayState: parameter("RelayState") ?? "", browserSecret: start.browserSecret)
    }

    /// The browser brings the MVPD's answer.
    /// - Parameter secret: Value of its cookie; by default the one that was set.
    func bring(_ response: String, to pending: Pending, secret: String? = nil) async throws -> SignInOutcome {
        try await app.conversation.call(
            AuthenticationMethods.completeSamlSignIn,
            CompleteSamlSignInRequest(
                samlResponse: Data(response.utf8).base64EncodedString(), relayState: pending.relayState,
                relayStatePresent: !pending.relayState.isEmpty, browserSecret: secret ?? pending.browserSecret))
    }

    /// A whole sign-in.
    func signIn(_ subscriber: PlayedMvpd.Subscriber = subscriber) async throws -> (pending: Pending, session: Session) {
        let pending = try await begin()
        let outcome = try await bring(try mvpd.response(to: pending.request, for: subscriber, now: Date()), to: pending)
        guard outcome.result == .signedIn, outcome.redirectURL == "https://acme.example/done" else {
            throw Unmet("SIGN_IN_RESULT_SIGNED_IN and redirect_url https://acme.example/done", came: FrameText.text(outcome))
        }
        return (pending, try await session(of: pending))
    }

    func session(of pending: Pending) async throws -> Session { try await app.session(on: pending.device) }

    /// - Parameter isErased: True when the code may be gone with the person.
    /// - Throws: `Unmet` when the device of the sign-in has a session.
    func requireNoSession(_ pending: Pending, isErased: Bool = false) async throws {
        try await app.requireNoSession(on: pending.device)
        try await app.conversation.refusal(
            of: AuthenticationMethods.getSessionByCode, SessionByCodeRequest(requestor: "ACME1", code: pending.code),
            codes: isErased ? ["authentication_session_missing", "invalid_registration_code"] : ["authentication_session_missing"])
    }
}

/// An app with an access token of the implementation under examination, on devices that no earlier examination used.
struct TestApp: Sendable {
    let conversation: Conversation
    let client: RegisteredClient
    let token: String

    /// - Parameter application: In the demo catalogue.
    init(_ examination: Examination, application: String = "acme-tv") async throws {
        conversation = try await examination.greet()
        let statement = try await examination.statement(of: application)
        client = try await conversation.call(AuthenticationMethods.registerClient, RegisterClientRequest(softwareStatement: statement))
        let request = IssueAccessTokenRequest(clientID: client.clientID, clientSecret: client.clientSecret, grantType: "client_credentials")
        token = try await conversation.call(AuthenticationMethods.issueAccessToken, request).accessToken
    }

    func call(_ device: String, requestor: String = "ACME1") -> DeviceCall {
        DeviceCall(
            accessToken: token, requestor: requestor, deviceID: device, device: DeviceInformation(model: "Television", osName: "Linux"),
            clientAddress: "192.0.2.7")
    }

    static func device() -> String { "conformance-\(UInt64.random(in: .min ... .max))" }

    /// A session without an MVPD: a free preview.
    @discardableResult
    func preview(_ device: String, requestor: String = "ACME1") async throws -> Session {
        let domain = requestor == "ACME1" ? "acme.example" : "acme-two.example"
        return try await conversation.call(
            AuthenticationMethods.startFreePreview,
            StartFreePreviewRequest(call: call(device, requestor: requestor), mvpd: "Preview10", domainName: domain))
    }

    func code(_ device: String) async throws -> RegistrationCode {
        try await conversation.call(AuthenticationMethods.createRegistrationCode, CreateRegistrationCodeRequest(call: call(device)))
    }

    func startSignIn(_ code: String, mvpd: String) -> StartSignInRequest {
        StartSignInRequest(
            requestor: "ACME1", mvpd: mvpd, registrationCode: code, domainName: "acme.example", redirectURL: "https://acme.example/done",
            clientAddress: "192.0.2.7")
    }

    /// Starts a sign-in at an MVPD on a new device.
    func begin(at mvpd: String) async throws -> (device: String, code: String, start: SignInStart) {
        let device = Self.device()
        let code = try await code(device).code
        return (device, code, try await conversation.call(AuthenticationMethods.startSignIn, startSignIn(code, mvpd: mvpd)))
    }

    func session(on device: String) async throws -> Session {
        try await conversation.call(AuthenticationMethods.getSession, SessionRequest(call: call(device)))
    }

    /// - Throws: `Unmet` when the device has a session.
    func requireNoSession(on device: String) async throws {
        try await conversation.refusal(
            of: AuthenticationMethods.getSession, SessionRequest(call: call(device)), codes: ["authentication_session_missing"])
    }
}

extension Examination {
    /// Signed by the examiner, which also plays the implementation's Config service.
    func statement(of application: String) async throws -> String {
        let request = IssueSoftwareStatementRequest(applicationID: application)
        return try await peers().doubles.config.issueSoftwareStatement(request, context: CallContext()).statement
    }
}
