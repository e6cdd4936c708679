internal import FoundationEssentials

/// `POST /o/client/register` (rest-v1 §3.1, RFC 7591).
struct RegistrationEndpoint: Sendable {
    let memory: UpstreamMemory
    let issuer: StatementIssuer

    private struct Message: Decodable {
        let software_statement: String?
        let redirect_uri: String?
    }

    private struct Credentials: Encodable {
        let client_id: String
        let client_secret: String
        let client_id_issued_at: Int64
        let redirect_uris: [String]
        let grant_types: [String]
        let scopes: [String]
    }

    func answer(_ call: UpstreamCall) throws -> UpstreamAnswer {
        guard call.isJSON, let message = try? JSONDecoder().decode(Message.self, from: Data(call.body)),
            let text = message.software_statement, !text.isEmpty
        else { return try .dcr("invalid_request") }
        guard let statement = memory.access({ $0.registry.statement(text: text) }) else {
            return try .dcr(issuer.isGenuine(text) ? "unapproved_software_statement" : "invalid_software_statement")
        }
        if statement.isRevoked { return try .dcr("unapproved_software_statement") }
        let (client, status) = memory.access { state in
            (state.registry.register(statement, deviceInfo: call.header("x-device-info"), now: call.now), state.behaviour.dcrStatus)
        }
        let credentials = Credentials(
            client_id: client.id, client_secret: client.secret, client_id_issued_at: call.now.seconds,
            redirect_uris: message.redirect_uri.map { [$0] } ?? [], grant_types: ["client_credentials"], scopes: statement.scopes)
        return try .json(credentials, status: status, outcome: "registered")
    }
}
