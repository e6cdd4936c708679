internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

/// `POST /o/client/token` (rest-v1 §3.2, RFC 6749 §4.4).
struct AccessTokenEndpoint: Sendable {
    let memory: VendorMemory
    let key: SigningKey

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
