internal import Octets
internal import Foundation

/// One server with the app's registration at it. It sends calls with an access token, and gets a new one when the server wants it (rest-v1 §4.1).
actor ServerLink {
    /// The shortest and the longest time for which a 429 holds up further calls.
    static let throttlePause: ClosedRange<Duration> = .seconds(1)...(.seconds(30))
    /// A token that expires sooner is replaced before it is used.
    private static let tokenMargin: TimeInterval = 30

    nonisolated let server: URL
    private let softwareStatement: String
    private let environment: ClientEnvironment
    private let stateStore: StateStore
    private let signer: RequestSigner?
    private var options = ClientOptions()
    private var refresh: (id: Int, task: Task<String, any Error>)?
    private var refreshCount = 0
    /// By the clock's uptime.
    private var closedUntil: Duration = .zero

    init(server: URL, softwareStatement: String, environment: ClientEnvironment, stateStore: StateStore, signer: RequestSigner? = nil) {
        self.signer = signer
        self.server = server
        self.softwareStatement = softwareStatement
        self.environment = environment
        self.stateStore = stateStore
    }

    /// Sends a call and, when the access token is refused, sends it again with a new one and at last with a new registration.
    /// - Throws: `ServerFailure`, or `CancellationError`.
    func send(_ call: ServerCall, options: ClientOptions) async throws -> HTTPResponse {
        self.options = options
        guard call.carriesBearer else { return try await exchange(call, bearer: nil) }
        if let signer { return try await exchange(call, authorization: signer.header(call.method.rawValue, call.path, now: environment.clock.now)) }
        var token = try await accessToken(insteadOf: nil)
        var answer = try await exchange(call, bearer: token)
        if Self.isRefusedToken(answer) {
            token = try await accessToken(insteadOf: token)
            answer = try await exchange(call, bearer: token)
        }
        if Self.isRefusedToken(answer) || isRefusedClient(answer) {
            token = try await accessToken(insteadOf: token, registersAgain: true)
            answer = try await exchange(call, bearer: token)
        }
        return answer
    }

    /// A 401 of another kind names its own reason: that of a redeem is about the value (apple §4).
    private static func isRefusedToken(_ answer: HTTPResponse) -> Bool {
        guard answer.status == 401 else { return false }
        return error(answer) != nil || answer.decoded(ServerAnswers.Failure.self)?.code?.hasPrefix("invalid_access_token") ?? true
    }

    /// Version 2 says this too with 401 alone (clients §4.8).
    private func isRefusedClient(_ answer: HTTPResponse) -> Bool {
        environment.restVersion == .v1 && answer.status == 403 && Self.error(answer) == "invalid_client"
    }

    /// True where no call has an access token.
    nonisolated var isSigned: Bool { signer != nil }

    /// A valid access token, for an address that a browser opens.
    func bearer(options: ClientOptions) async throws -> String {
        self.options = options
        return try await accessToken(insteadOf: nil)
    }

    // MARK: - Access token

    /// Waiters share one renewal, and none of them can cancel it for the others.
    private func accessToken(insteadOf refused: String?, registersAgain: Bool = false) async throws -> String {
        if let registration = registration(), let token = registration.accessToken, token != refused,
            let end = registration.accessTokenExpires, environment.clock.now.addingTimeInterval(Self.tokenMargin) < end
        {
            return token
        }
        let task = refresh?.task ?? startRefresh(registersAgain: registersAgain)
        return try await abandonable(cancels: false) { try await task.value }
    }

    private func startRefresh(registersAgain: Bool) -> Task<String, any Error> {
        refreshCount += 1
        let id = refreshCount
        let task = Task {
            defer { endRefresh(id) }
            return try await renew(registersAgain: registersAgain)
        }
        refresh = (id, task)
        return task
    }

    private func endRefresh(_ id: Int) { if refresh?.id == id { refresh = nil } }

    private func renew(registersAgain: Bool) async throws -> String {
        var registration =
            if !registersAgain, let known = self.registration() { known } else { try await register() }
        if let token = try await token(&registration) { return token }
        registration = try await register()
        if let token = try await token(&registration) { return token }
        throw ServerFailure.noAccessToken("invalid_client")
    }

    /// The registration that was made with this statement.
    private func registration() -> Registration? {
        guard let known = stateStore.registration(at: server), known.softwareStatement == softwareStatement else { return nil }
        return known
    }

    private func register() async throws -> Registration {
        var order = ["software_statement": softwareStatement]
        order["redirect_uri"] = environment.redirectURI
        let call = ServerCall(method: .post, path: "/o/client/register", json: try JSONEncoder().encode(order), carriesBearer: false)
        let answer = try await exchange(call, bearer: nil)
        if answer.status == 400, let code = Self.error(answer) { throw ServerFailure.statementRefused(code) }
        try Self.requireSuccess(answer)
        guard let client = try? JSONDecoder().decode(Client.self, from: answer.body) else {
            throw ServerFailure.unexpectedAnswer("registration: the answer is not what these servers send")
        }
        let registration = Registration(softwareStatement: softwareStatement, clientID: client.id, clientSecret: client.secret)
        stateStore.keep(registration, at: server)
        return registration
    }

    /// - Returns: `nil` when the server does not know the client.
    private func token(_ registration: inout Registration) async throws -> String? {
        let form = [
            Parameter("client_id", registration.clientID), Parameter("client_secret", registration.clientSecret),
            Parameter("grant_type", "client_credentials"),
        ]
        let answer = try await exchange(ServerCall(method: .post, path: "/o/client/token", form: form, carriesBearer: false), bearer: nil)
        if answer.status == 400 || answer.status == 401, let code = Self.error(answer) {
            guard code == "invalid_client" else { throw ServerFailure.noAccessToken(code) }
            stateStore.keep(nil, at: server)
            return nil
        }
        try Self.requireSuccess(answer)
        guard let issued = try? JSONDecoder().decode(IssuedToken.self, from: answer.body) else {
            throw ServerFailure.unexpectedAnswer("token: the answer is not what these servers send")
        }
        registration.accessToken = issued.accessToken
        registration.accessTokenExpires = environment.clock.now.addingTimeInterval(issued.lifetime)
        stateStore.keep(registration, at: server)
        return issued.accessToken
    }

    private struct Client: Decodable {
        let id: String
        let secret: String

        enum CodingKeys: String, CodingKey {
            case id = "client_id"
            case secret = "client_secret"
        }
    }

    private struct IssuedToken: Decodable {
        let accessToken: String
        /// Seconds.
        let lifetime: Double

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case lifetime = "expires_in"
        }
    }

    private static func requireSuccess(_ answer: HTTPResponse) throws(ServerFailure) {
        switch answer.status {
        case 200..<300: return
        case 429: throw .throttled
        case 500...: throw .unavailable(status: answer.status)
        default: throw .unexpectedAnswer("status \(answer.status)")
        }
    }

    /// The code of an error of OAuth 2.0.
    private static func error(_ answer: HTTPResponse) -> String? {
        struct Message: Decodable { let error: String }
        return try? JSONDecoder().decode(Message.self, from: answer.body).error
    }

    // MARK: - Exchange

    private func exchange(_ call: ServerCall, bearer: String?) async throws -> HTTPResponse {
        try await exchange(call, authorization: bearer.map { "Bearer \($0)" })
    }

    private func exchange(_ call: ServerCall, authorization: String?) async throws -> HTTPResponse {
        try await waitForThrottle()
        guard let url = call.url(at: server), ["http", "https"].contains(url.scheme?.lowercased()) else {
            throw ServerFailure.unreachable("this is no address of a server: it begins with https:// or http://")
        }
        var request = HTTPRequest(call.method, url, timeout: call.timeout)
        request.headers = headers(authorization) + call.headers
        if let form = call.form {
            request.headers.append(HTTPHeader("Content-Type", "application/x-www-form-urlencoded"))
            request.body = Data(FormEncoding.encode(form).utf8)
        } else if let json = call.json {
            request.headers.append(HTTPHeader("Content-Type", "application/json"))
            request.body = json
        }
        let answer = try await transported(request)
        if answer.status == 429 { closedUntil = environment.clock.uptime + Self.pause(answer) }
        return answer
    }

    private func transported(_ request: HTTPRequest) async throws -> HTTPResponse {
        let transport = environment.transport
        do {
            return try await abandonable { try await transport.send(request) }
        } catch let failure as TransportFailure {
            throw ServerFailure(failure)
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            throw ServerFailure.unreachable("\(type(of: error))")
        }
    }

    private func headers(_ authorization: String?) -> [HTTPHeader] {
        var headers = [HTTPHeader("Accept", "application/json")]
        if let authorization { headers.append(HTTPHeader("Authorization", authorization)) }
        let version = environment.restVersion
        let information = options.deviceInformation ?? environment.device.information(version)
        switch version {
        case .v1:
            headers.append(HTTPHeader("X-Device-Info", FormEncoding.encode(information)))
            if let visitor = options.visitorID { headers.append(HTTPHeader("ap_vi", FormEncoding.encode(visitor))) }
            if let profile = options.applicationProfile { headers.append(HTTPHeader("X-Application-Profile", FormEncoding.encode(profile))) }
        case .v2:
            // Base64 may come in lines.
            headers.append(HTTPHeader("X-Device-Info", information.filter { !$0.isWhitespace }))
            if let visitor = options.visitorID { headers.append(HTTPHeader("AP-Visitor-Identifier", FormEncoding.encode(visitor))) }
        }
        return headers
    }

    /// After a 429 no call is sent before its time: a storm of calls becomes a queue.
    private func waitForThrottle() async throws {
        while environment.clock.uptime < closedUntil {
            try await environment.clock.sleep(for: closedUntil - environment.clock.uptime)
        }
        try Task.checkCancellation()
    }

    private static func pause(_ answer: HTTPResponse) -> Duration {
        guard let text = answer.header("Retry-After"), let seconds = Int(text) else { return throttlePause.lowerBound }
        return min(max(.seconds(min(seconds, 3600)), throttlePause.lowerBound), throttlePause.upperBound)
    }
}
