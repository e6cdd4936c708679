internal import SandboxKit
internal import FoundationEssentials

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
