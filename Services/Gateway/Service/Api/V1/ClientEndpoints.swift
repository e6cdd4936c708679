internal import Contracts
internal import Faults
internal import FoundationEssentials
internal import Hummingbird

/// Dynamic client registration and access tokens (rest-v1 §3.1, §3.2).
struct ClientEndpoints: Sendable {
    let dependencies: Dependencies

    @Sendable func register(_ exchange: Exchange) async throws -> Response {
        guard Exchange.mediaType(exchange.headers) == "application/json",
            let registration = try? JSONDecoder().decode(Registration.self, from: Data(exchange.body.readableBytesView)),
            !registration.statement.isEmpty, !registration.hasNul
        else { throw Fault(.invalidRequest, "The body must be a JSON object with a software_statement.") }
        let encoded = try? exchange.headers[.xDeviceInfo] ?? exchange.value("device_info")
        let client = try await dependencies.authentication.registerClient(
            RegisterClientRequest(
                softwareStatement: registration.statement, redirectURI: registration.redirectURI ?? "",
                device: .lenient(encoded, userAgent: exchange.userAgent)),
            context: exchange.changingCall)
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
        guard exchange.body.readableBytes == 0 || Exchange.isForm(exchange.headers) else {
            throw Fault(.invalidRequest, "The body must be a form.")
        }
        guard exchange.headers[.authorization] == nil else {
            throw Fault(.invalidRequest, "The client is to authenticate with form parameters alone.")
        }
        let grant = try once("grant_type", exchange)
        let request = IssueAccessTokenRequest(
            clientID: try once("client_id", exchange), clientSecret: try once("client_secret", exchange), grantType: grant)
        let token = try await dependencies.authentication.issueAccessToken(request, context: exchange.changingCall)
        var members: [Document.Member] = [
            .init("id", .text(token.id)), .init("access_token", .text(token.accessToken)),
            .init("created_at", .number(token.createdAtMilliseconds)), .init("expires_in", .number(Int64(token.expiresInSeconds))),
            .init("token_type", .text("bearer")),
        ]
        // What was asked for never changes it (clients §4.10).
        if !token.scopes.isEmpty { members.append(.init("scope", .text(token.scopes.joined(separator: " ")))) }
        return Self.created(Document("token", members))
    }

    /// OAuth forbids repeating a parameter, even with the same value (RFC 6749 §3.2).
    private func once(_ name: String, _ exchange: Exchange) throws(Fault) -> String {
        let sent = try exchange.all(name)
        guard sent.count == 1, !sent[0].isEmpty else { throw Fault(.invalidRequest, "Parameter '\(name)' must be present once") }
        return sent[0]
    }

    private static func created(_ document: Document) -> Response {
        var response = Response(document, format: .json, status: .created)
        response.headers[.pragma] = "no-cache"
        return response
    }
}

/// Body of a registration; the names are those of RFC 7591.
private struct Registration: Decodable {
    enum CodingKeys: String, CodingKey {
        case statement = "software_statement"
        case redirectURI = "redirect_uri"
    }

    let statement: String
    let redirectURI: String?

    /// The services refuse such text.
    var hasNul: Bool { (statement + (redirectURI ?? "")).utf8.contains(0) }
}
