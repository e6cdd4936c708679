internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

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
        // What was asked for never changes it (clients §4.10).
        if !token.scopes.isEmpty { members.append(.init("scope", .text(token.scopes.joined(separator: " ")))) }
        return Self.created(Document("token", members))
    }

    /// - Throws: `BasicProblem` for credentials in the header that are wrong.
    private func issue(_ grant: String, _ exchange: Exchange) async throws -> AccessToken {
        guard let sent = try BasicCredentials.sent(exchange) else {
            return try await issue(grant, (try once("client_id", exchange), try once("client_secret", exchange)), exchange)
        }
        let pairs = try basicPairs(sent, exchange)
        var refusal = Fault(.invalidClient, "The credentials of the Authorization header lack an id or a secret.")
        for pair in pairs {
            do { return try await issue(grant, pair, exchange) } catch let fault as Fault where fault.code == .invalidClient { refusal = fault }
        }
        throw BasicProblem(fault: refusal)
    }

    private func issue(_ grant: String, _ pair: (id: String, secret: String), _ exchange: Exchange) async throws -> AccessToken {
        let request = IssueAccessTokenRequest(clientID: pair.id, clientSecret: pair.secret, grantType: grant)
        return try await dependencies.authentication.issueAccessToken(request, context: exchange.changingCall)
    }

    /// The pairs that the header may mean. A client uses one way in each request (RFC 6749 §2.3); an id beside it, without a secret, only says the same again.
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
