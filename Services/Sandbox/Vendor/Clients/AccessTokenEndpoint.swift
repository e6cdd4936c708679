internal import Clocks
internal import FoundationEssentials
internal import SandboxKit

/// `POST /o/client/token` (rest-v1 §3.2, RFC 6749 §4.4).
struct AccessTokenEndpoint: Sendable {
    let memory: VendorMemory
    let key: SandboxSigningKey

    private struct Issued: Encodable {
        let id: String
        let accessToken: String
        let createdAt: Int64
        let expiresIn: Int
        let tokenType: String
        let scope: String

        enum CodingKeys: String, CodingKey {
            case id, scope
            case accessToken = "access_token"
            case createdAt = "created_at"
            case expiresIn = "expires_in"
            case tokenType = "token_type"
        }
    }

    /// Apps read the expiry and the scopes out of it (clients §4.10).
    private struct Claims: Encodable {
        let sub: String
        let iss: String
        let iat: Int64
        let exp: Int64
        let scopes: String
        let jti: String
    }

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        guard let id = parameter("client_id", call), let secret = parameter("client_secret", call), let grant = parameter("grant_type", call) else {
            return try .dcr("invalid_request")
        }
        guard grant == "client_credentials" else { return try .dcr("unsupported_grant_type") }
        let found = memory.access { state in
            state.registry.client(id).map { ($0, state.registry.statement(id: $0.statement), state.behaviour) }
        }
        guard let (client, statement, behaviour) = found, client.secret == secret, let statement else { return try .dcr("invalid_client") }
        let end = call.now + .seconds(behaviour.tokenSeconds)
        let token = try token(client, statement, now: call.now, end: end)
        memory.access { $0.registry.issue(token, for: client, scopes: statement.scopes, end: end) }
        let issued = Issued(
            id: RandomText.hexadecimal(octets: 16), accessToken: token, createdAt: call.now.milliseconds, expiresIn: behaviour.tokenSeconds,
            tokenType: "bearer", scope: statement.scopes.joined(separator: " "))
        return try .json(issued, status: behaviour.dcrStatus, outcome: "token")
    }

    /// From the form, or with an empty body from the query (rest-v1 §3.2).
    private func parameter(_ name: String, _ call: VendorCall) -> String? {
        call.body.isEmpty ? call.queryValue(name) : call.field(name)
    }

    private func token(_ client: ClientRegistry.Client, _ statement: SoftwareStatement, now: Timestamp, end: Timestamp) throws -> String {
        let claims = Claims(
            sub: client.id, iss: "https://upstream.sandbox.example", iat: now.seconds, exp: end.seconds,
            scopes: statement.scopes.joined(separator: " "), jti: RandomText.hexadecimal(octets: 16))
        let input = Base64.urlText(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8)) + "." + Base64.urlText(try VendorAnswer.encoded(claims))
        return input + "." + Base64.urlText(try key.sign(Array(input.utf8)))
    }
}

/// `POST /o/client/register` (rest-v1 §3.1, RFC 7591).
struct RegistrationEndpoint: Sendable {
    let memory: VendorMemory
    let issuer: StatementIssuer

    private struct Message: Decodable {
        let softwareStatement: String?
        let redirectURI: String?

        enum CodingKeys: String, CodingKey {
            case softwareStatement = "software_statement"
            case redirectURI = "redirect_uri"
        }
    }

    private struct Credentials: Encodable {
        let clientID: String
        let clientSecret: String
        let issuedAt: Int64
        let redirectURIs: [String]
        let grantTypes: [String]
        let scopes: [String]

        enum CodingKeys: String, CodingKey {
            case scopes
            case clientID = "client_id"
            case clientSecret = "client_secret"
            case issuedAt = "client_id_issued_at"
            case redirectURIs = "redirect_uris"
            case grantTypes = "grant_types"
        }
    }

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        guard call.isJSON, let message = try? JSONDecoder().decode(Message.self, from: Data(call.body)),
            let text = message.softwareStatement, !text.isEmpty
        else { return try .dcr("invalid_request") }
        guard let statement = memory.access({ $0.registry.statement(text: text) }) else {
            return try .dcr(issuer.isGenuine(text) ? "unapproved_software_statement" : "invalid_software_statement")
        }
        if statement.isRevoked { return try .dcr("unapproved_software_statement") }
        let (client, status) = memory.access { state in
            (state.registry.register(statement, deviceInfo: call.header("x-device-info"), now: call.now), state.behaviour.dcrStatus)
        }
        let credentials = Credentials(
            clientID: client.id, clientSecret: client.secret, issuedAt: call.now.seconds,
            redirectURIs: message.redirectURI.map { [$0] } ?? [], grantTypes: ["client_credentials"], scopes: statement.scopes)
        return try .json(credentials, status: status, outcome: "registered")
    }
}
