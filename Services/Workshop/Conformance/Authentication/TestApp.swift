internal import ContractRuntime
internal import Contracts

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
    func hasNoSession(on device: String) async throws {
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
