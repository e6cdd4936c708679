internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Dynamic client registration and access tokens (rest-v1 §3.1, §3.2).
struct ClientEndpoints: Sendable {
    let dependencies: Dependencies

    @Sendable func register(_ exchange: Exchange) async throws -> Response {
        try Self.require("application/json", exchange)
        let body = try AppBody(Array(exchange.body.readableBytesView))
        // Read from a file, a statement ends as a line does; its compact form has no blank (RFC 7515 §7.1).
        let statement = Self.trimmed(try body.text("software_statement"))
        guard !statement.isEmpty else { throw Fault(.invalidRequest, "Member 'software_statement' holds nothing but blanks") }
        let redirect = try body.optionalText("redirect_uri")
        let encoded = try? exchange.headers[.xDeviceInfo] ?? exchange.value("device_info")
        let client = try await dependencies.authentication.registerClient(
            RegisterClientRequest(
                softwareStatement: statement, redirectURI: redirect,
                device: .lenient(encoded, userAgent: exchange.userAgent)),
            context: exchange.changingCall)
        exchange.serves(client.requestorIDs)
        return Self.created(
            Document(
                "client",
                [
                    .init("client_id", .text(client.clientID)), .init("client_secret", .text(client.clientSecret)),
                    .init("client_id_issued_at", .number(client.issuedAtSeconds)),
                    .init("redirect_uris", .list(client.redirectUris.map { .text($0) }, item: "redirect_uri")),
                    .init("grant_types", .list(client.grantTypes.map { .text($0) }, item: "grant_type")),
                    .init("scopes", .list(client.scopes.map { .text($0) }, item: "scope")),
                ]))
    }

    @Sendable func token(_ exchange: Exchange) async throws -> Response {
        // With an empty body the parameters may stand in the query, whatever the content type (rest-v1 §3.2).
        if exchange.body.readableBytes > 0 { try Self.require("application/x-www-form-urlencoded", exchange) }
        let token = try await issue(try once("grant_type", exchange), exchange)
        exchange.serves(token.requestorIDs)
        var members: [Document.Member] = [
            .init("id", .text(token.id)), .init("access_token", .text(token.accessToken)),
            .init("created_at", .number(token.createdAtMilliseconds)), .init("expires_in", .number(Int64(token.expiresInSeconds))),
            .init("token_type", .text("bearer")),
        ]
        // The scope that was asked for never changes it (clients §4.10).
        if !token.scopes.isEmpty { members.append(.init("scope", .text(token.scopes.joined(separator: " ")))) }
        return Self.created(Document("token", members))
    }

    /// - Throws: `BasicRejection` for credentials in the header that are wrong.
    private func issue(_ grant: String, _ exchange: Exchange) async throws -> AccessToken {
        guard let sent = try BasicCredentials.sent(exchange) else {
            return try await issue(grant, (try once("client_id", exchange), try once("client_secret", exchange)), exchange)
        }
        let pairs = try basicPairs(sent, exchange)
        var refusal = Fault(.invalidClient, "The credentials of the Authorization header lack an id or a secret.")
        for pair in pairs {
            do { return try await issue(grant, pair, exchange) } catch let fault as Fault where fault.code == .invalidClient { refusal = fault }
        }
        throw BasicRejection(fault: refusal)
    }

    private func issue(_ grant: String, _ pair: (id: String, secret: String), _ exchange: Exchange) async throws -> AccessToken {
        let request = IssueAccessTokenRequest(clientID: pair.id, clientSecret: pair.secret, grantType: grant)
        return try await dependencies.authentication.issueAccessToken(request, context: exchange.changingCall)
    }

    /// The pairs that the header may mean. A client uses one way in each request (RFC 6749 §2.3); an id beside it, without a secret, only says the
    /// same again.
    private func basicPairs(_ sent: BasicCredentials, _ exchange: Exchange) throws(Fault) -> [(id: String, secret: String)] {
        guard try exchange.all("client_secret").allSatisfy(\.isEmpty) else {
            throw Fault(.invalidRequest, "The client authenticates in two ways: leave client_secret out, or the Authorization header")
        }
        guard !(try exchange.all("client_id").isEmpty) else { return sent.pairs }
        let id = try once("client_id", exchange)
        let pairs = sent.pairs.filter { $0.id == id }
        guard !pairs.isEmpty || sent.pairs.isEmpty else {
            throw Fault(.invalidRequest, "Parameter 'client_id' is not the client of the Authorization header")
        }
        return pairs
    }

    /// OAuth forbids repeating a parameter, even with the same value (RFC 6749 §3.2).
    private func once(_ name: String, _ exchange: Exchange) throws(Fault) -> String {
        let sent = try exchange.all(name)
        guard !sent.isEmpty else { throw Fault(.invalidRequest, "Required '\(name)' is not present") }
        guard sent.count == 1 else { throw Fault(.invalidRequest, "Parameter '\(name)' is present more than once") }
        guard !sent[0].isEmpty else { throw Fault(.invalidRequest, "Parameter '\(name)' is empty") }
        return sent[0]
    }

    /// - Throws: `invalid_request` that names both content types.
    private static func require(_ type: String, _ exchange: Exchange) throws(Fault) {
        let sent = Exchange.mediaType(exchange.headers)
        guard sent != type else { return }
        throw Fault(.invalidRequest, "The content type must be \(type), and \(sent.isEmpty ? "none was sent" : "it is \(sent.prefix(100))")")
    }

    /// Without the blanks and ends of lines at both ends.
    private static func trimmed(_ text: String) -> String {
        let isBlank: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        let octets = Array(text.utf8)
        guard let start = octets.firstIndex(where: { !isBlank($0) }), let end = octets.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: octets[start...end], as: UTF8.self)
    }

    private static func created(_ document: Document) -> Response {
        var response = Response(document, format: .json, status: .created)
        response.headers[.pragma] = "no-cache"
        return response
    }
}

/// The face of client registration and of the token endpoint (RFC 6749 §5.2, RFC 7591 §3.2.2).
struct ClientRegistrationFace: Face {
    private let overloaded = Self.document("temporarily_unavailable").body(.json)

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        if fault.code.isTransient { return Self.reply("temporarily_unavailable", status: .serviceUnavailable) }
        guard Self.told.contains(fault.code) else { return Self.reply("server_error", status: .internalServerError) }
        // A client that authenticated in the header is told by a challenge that this failed.
        let isBasic = error is BasicRejection
        var response = Self.reply(fault.code.rawValue, status: isBasic ? .unauthorized : .badRequest, description: fault.message)
        if isBasic { response.headers[.wwwAuthenticate] = BasicCredentials.challenge }
        return response
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response {
        let flaw =
            switch problem {
            case .tooLarge: "longer than is read"
            case .tooSlow: "not there in time"
            case .broken: "not whole"
            }
        return Self.reply("invalid_request", status: problem.status, description: "The body is \(flaw).")
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        Self.reply("invalid_request", status: .methodNotAllowed, description: "The method must be POST.")
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        var fields = HTTPFields.unstored(ReplyFormat.json.contentType)
        fields[.pragma] = "no-cache"
        return (fields, overloaded)
    }

    /// - Parameter description: For the developer of the client; empty: none.
    private static func reply(_ error: String, status: HTTPResponse.Status, description: String = "") -> Response {
        var response = Response(document(error, description), format: .json, status: status)
        response.headers[.pragma] = "no-cache"
        return response
    }

    private static func document(_ error: String, _ description: String = "") -> Document {
        let text = described(description)
        return Document("error", [.init("error", .text(error))] + (text.isEmpty ? [] : [.init("error_description", .text(text))]))
    }

    /// Longest description, in octets.
    private static let longestDescription = 300

    /// Printable ASCII without quotation marks and backslashes (RFC 6749 §5.2): what was sent may be a part of it.
    private static func described(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }.prefix(longestDescription), as: UTF8.self)
    }

    private static let told: Set<Fault.Code> = [
        .invalidRequest, .invalidClient, .unauthorizedClient, .unsupportedGrantType, .invalidRedirectURI, .invalidSoftwareStatement,
        .unapprovedSoftwareStatement,
    ]
}

/// The browser's way through the logouts of the MVPDs (mvpd §2.7).
struct SingleLogoutEndpoints: Sendable {
    let dependencies: Dependencies

    private static let messages = ["SAMLRequest", "SAMLResponse"]

    /// The address that a logout gave.
    @Sendable func visit(_ exchange: Exchange) async throws -> Response {
        let request = VisitLogoutRequest(handle: try exchange.required("handle"))
        return reply(try await dependencies.authentication.visitLogout(request, context: exchange.changingCall), exchange)
    }

    /// Back from an upstream's logout page (bridge §10.2).
    @Sendable func visited(_ exchange: Exchange) async throws -> Response { try await goOn(try exchange.captured("handle"), exchange) }

    /// Back from an OpenID provider's logout (OpenID Connect RP-Initiated Logout 1.0 §3). One that leaves `state` out has signed the person out all
    /// the same.
    @Sendable func returned(_ exchange: Exchange) async throws -> Response {
        let states = (try? exchange.all("state")) ?? []
        guard let state = states.first, states.count == 1, !state.isEmpty else { return dependencies.notices.page(.loggedOut, exchange) }
        return try await goOn(state, exchange)
    }

    /// A browser that comes too late is signed out all the same.
    private func goOn(_ handle: String, _ exchange: Exchange) async throws -> Response {
        let request = VisitLogoutRequest(handle: handle)
        let step = try await dependencies.authentication.visitLogout(request, context: exchange.changingCall)
        return step.result == .rejected ? dependencies.notices.page(.loggedOut, exchange) : reply(step, exchange)
    }

    /// An MVPD's answer, or its own request.
    @Sendable func receive(_ exchange: Exchange) async throws -> Response {
        let sent = Self.messages.map { (try? exchange.all($0)) ?? [] }
        if exchange.hasReadableParameters, sent.allSatisfy({ $0.allSatisfy(\.isEmpty) }) {
            return dependencies.notices.page(.noSamlMessage, exchange)
        }
        // A redirected message is signed as it was sent: the service reads it from there, and from nothing that was decoded before.
        guard let message = exchange.method == .get ? SamlLogoutMessage(query: exchange.query) : posted(sent, exchange) else {
            exchange.logger.warning("logout-rejected", metadata: ["reason": "bind.params"])
            return dependencies.notices.page(.logoutRefused, exchange)
        }
        return reply(try await dependencies.authentication.receiveSamlLogout(message, context: exchange.changingCall), exchange)
    }

    /// - Returns: `nil` unless there is exactly one message and nothing that belongs to the other binding.
    private func posted(_ sent: [[String]], _ exchange: Exchange) -> SamlLogoutMessage? {
        guard exchange.query.isEmpty, sent.map(\.count).reduce(0, +) == 1, let states = try? exchange.all("RelayState"), states.count < 2,
            exchange.lacks("SigAlg"), exchange.lacks("Signature")
        else { return nil }
        return SamlLogoutMessage(samlRequest: sent[0].first ?? "", samlResponse: sent[1].first ?? "", relayState: states.first ?? "")
    }

    private func reply(_ step: LogoutStep, _ exchange: Exchange) -> Response {
        let trace = step.traceID.isEmpty ? exchange.facts.trace.traceID : step.traceID
        switch step.result {
        case .goesOn where step.fields.isEmpty: return .redirect(to: step.url)
        case .goesOn: return dependencies.pages.continueToProvider(SignInStart(url: step.url, fields: step.fields), exchange)
        case .done: return dependencies.notices.page(.loggedOut, trace: trace, exchange)
        case .rejected, .unknown, .unrecognized: return dependencies.notices.page(.logoutRefused, trace: trace, exchange)
        }
    }
}
