internal import Contracts
internal import Foundation

/// OpenFiber, played by the examiner: the implementation's catalogue names the examiner's addresses, client and trust anchors.
struct TestProvider: Sendable {
    static let id = "OpenFiber"

    let app: TestApp
    let provider: PlayedProvider
    let server: ProviderServer

    /// A sign-in that waits for the provider's answer.
    struct Pending: Sendable {
        let device: String
        let code: String
        let browserSecret: String
        let parameters: [String: String]

        func parameter(_ name: String) -> String { parameters[name] ?? "" }
    }

    /// Does the work while the implementation uses the examiner as OpenFiber.
    static func play(_ examination: Examination, _ work: (TestProvider) async throws -> Void) async throws {
        let provider = PlayedProvider(try IdentityToken.Keys.shared.get())
        let peers = try examination.peers()
        let app = try await TestApp(examination)
        let server = try await ProviderServer.start { provider.answer($0) }
        let played = TestProvider(app: app, provider: provider, server: server)
        let outcome: Result<Void, any Error>
        do {
            try await peers.withCatalogue(played.change, until: { try await app.begin(at: id).start.url.hasPrefix("\(server.address)/authorize") }) {
                try await work(played)
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        await server.stop()
        try outcome.get()
    }

    private func change(_ configuration: inout Configuration) {
        for index in configuration.mvpds.indices where configuration.mvpds[index].id == Self.id {
            guard case .oauth(var endpoint) = configuration.mvpds[index].signIn else { continue }
            endpoint.issuer = server.address
            endpoint.authorizeURL = "\(server.address)/authorize"
            endpoint.tokenURL = "\(server.address)/token"
            endpoint.profileURL = "\(server.address)/profile"
            endpoint.jwksURL = "\(server.address)/jwks"
            endpoint.clientID = PlayedProvider.clientID
            endpoint.clientAuthentication = .basic
            endpoint.trustAnchors = [server.authority]
            endpoint.accessTokenTtlSeconds = 0
            endpoint.userIDClaim = ""
            endpoint.attributeMap = [
                AttributeMapping(source: PlayedProvider.householdClaim, target: "householdID"),
                AttributeMapping(source: PlayedProvider.channelsClaim, target: "channelID", type: .stringList),
            ]
            configuration.mvpds[index].signIn = .oauth(endpoint)
        }
        for index in configuration.integrations.indices where configuration.integrations[index].mvpdID == Self.id {
            configuration.integrations[index].oauthClient = nil
        }
    }

    /// Sends a browser to the provider.
    /// - Throws: `Unmet` when the address is no authorization request with state, nonce and S256.
    func begin() async throws -> Pending {
        let (device, code, start) = try await app.begin(at: Self.id)
        let parameters = PlayedProvider.form(URLComponents(string: start.url)?.percentEncodedQuery ?? "")
        let pending = Pending(device: device, code: code, browserSecret: start.browserSecret, parameters: parameters)
        guard pending.parameter("response_type") == "code", pending.parameter("client_id") == PlayedProvider.clientID,
            pending.parameter("code_challenge_method") == "S256", pending.parameter("code_challenge").utf8.count == 43,
            ["state", "nonce", "redirect_uri"].allSatisfy({ !pending.parameter($0).isEmpty })
        else {
            let expected = "response_type code, client_id \(PlayedProvider.clientID), state, nonce, redirect_uri and a code_challenge of S256"
            throw Unmet(expected, came: start.url)
        }
        return pending
    }

    /// The person signs in at the provider.
    /// - Returns: The code that the browser brings.
    func code(
        for pending: Pending, _ person: PlayedProvider.Person = .subscriber, algorithm: IdentityToken.Algorithm = .rs256,
        flaw: IdentityToken.Flaw? = nil
    ) -> String {
        let token = IdentityToken(
            issuer: server.address, audience: PlayedProvider.clientID, nonce: pending.parameter("nonce"), person: person, algorithm: algorithm,
            flaw: flaw)
        return provider.code(
            for: PlayedProvider.Grant(
                challenge: pending.parameter("code_challenge"), redirectURI: pending.parameter("redirect_uri"), token: token))
    }

    /// The browser brings the provider's answer.
    func bring(_ request: CompleteOAuthSignInRequest) async throws -> SignInOutcome {
        try await app.conversation.call(AuthenticationMethods.completeOAuthSignIn, request)
    }

    /// The answer that the browser brings when the person signed in.
    func answer(_ code: String, to pending: Pending) -> CompleteOAuthSignInRequest {
        CompleteOAuthSignInRequest(
            state: pending.parameter("state"), code: code, issuer: server.address, browserSecret: pending.browserSecret,
            callback: Self.callback(at: pending.parameter("redirect_uri")))
    }

    /// The gateway reads it from the path to which the browser was sent. It is the MVPD's id, or nothing where the service named the shared address.
    private static func callback(at redirectURI: String) -> String {
        redirectURI.utf8.reversed().starts(with: "/\(id)".utf8.reversed()) ? id : ""
    }

    /// A whole sign-in.
    func signIn(
        _ person: PlayedProvider.Person = .subscriber, algorithm: IdentityToken.Algorithm = .rs256
    ) async throws -> (pending: Pending, session: Session) {
        let pending = try await begin()
        let outcome = try await app.conversation.outcome(
            of: AuthenticationMethods.completeOAuthSignIn, answer(code(for: pending, person, algorithm: algorithm), to: pending))
        guard case .answer(let answer) = outcome, answer.result == .signedIn, answer.redirectURL == "https://acme.example/done" else {
            throw Unmet("SIGN_IN_RESULT_SIGNED_IN and redirect_url https://acme.example/done", came: text(of: outcome))
        }
        return (pending, try await session(of: pending))
    }

    private func text(of outcome: CallOutcome<SignInOutcome>) -> String {
        let came =
            switch outcome {
            case .answer(let answer): FrameText.text(answer)
            case .fault(let fault): "the fault `\(fault.code)`: \(fault.message)"
            }
        if let complaint = provider.complaints.last { return "\(came); the provider was sent \(complaint)" }
        if provider.exchanges == 0 {
            return "\(came); nobody asked at the provider's token_url (is there a file of the client secret that the catalogue names?)"
        }
        return came
    }

    func session(of pending: Pending) async throws -> Session { try await app.session(on: pending.device) }

    /// - Throws: `Unmet` unless the answer is rejected and the device has no session.
    func requireRejected(_ request: CompleteOAuthSignInRequest, to pending: Pending) async throws {
        let outcome = try await bring(request)
        guard outcome.result == .rejected, outcome.redirectURL.isEmpty, !outcome.traceID.isEmpty else {
            throw Unmet("SIGN_IN_RESULT_REJECTED with a trace_id and without a redirect_url", came: FrameText.text(outcome))
        }
        try await requireNoSession(pending)
    }

    /// - Throws: `Unmet` when the device of the sign-in has a session.
    func requireNoSession(_ pending: Pending) async throws { try await app.requireNoSession(on: pending.device) }
}
