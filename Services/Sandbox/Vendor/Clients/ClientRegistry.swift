internal import Clocks
internal import FoundationEssentials
internal import SandboxKit

/// Statements, the clients that they made, and the clients' access tokens.
struct ClientRegistry: Sendable {
    struct Client: Sendable, Codable, Equatable {
        let id: String
        let secret: String
        /// The statement's id.
        let statement: String
        let registeredAt: Timestamp
        /// `X-Device-Info` of the registration.
        let deviceInfo: String?
        /// Tokens that it got.
        var tokens = 0
    }

    struct Token: Sendable {
        let client: String
        let scopes: [String]
        let end: Timestamp
    }

    static let statementLimit = 1000

    private(set) var statements: [SoftwareStatement] = []
    private var clients = BoundedTable<String, Client>(limit: 100_000)
    private var tokens = BoundedTable<String, Token>(limit: 200_000)

    var allClients: [Client] { clients.values }

    func client(_ id: String) -> Client? { clients[id] }

    /// - Returns: nil unless the text is octet for octet a statement's.
    func statement(text: String) -> SoftwareStatement? { statements.first { $0.text == text } }

    func statement(id: String) -> SoftwareStatement? { statements.first { $0.id == id } }

    mutating func set(_ statement: SoftwareStatement) throws(SettingsFault) {
        if let index = statements.firstIndex(where: { $0.id == statement.id }) {
            statements[index] = statement
        } else if statements.count < Self.statementLimit {
            statements.append(statement)
        } else {
            throw SettingsFault(key: "id", problem: "would be one of more than \(Self.statementLimit) statements")
        }
    }

    /// - Returns: True when there is such a statement.
    mutating func revokeStatement(_ id: String) -> Bool {
        guard let index = statements.firstIndex(where: { $0.id == id }) else { return false }
        statements[index].isRevoked = true
        return true
    }

    mutating func register(_ statement: SoftwareStatement, deviceInfo: String?, now: Timestamp) -> Client {
        let client = Client(
            id: "client-" + RandomText.hexadecimal(octets: 12), secret: RandomText.hexadecimal(octets: 24), statement: statement.id,
            registeredAt: now, deviceInfo: deviceInfo.map { String($0.prefix(4096)) })
        clients[client.id] = client
        return client
    }

    /// Forgets a client with its tokens.
    /// - Returns: True when there was one.
    mutating func revokeClient(_ id: String) -> Bool {
        guard clients[id] != nil else { return false }
        clients[id] = nil
        return true
    }

    mutating func issue(_ token: String, for client: Client, scopes: [String], end: Timestamp) {
        clients[client.id]?.tokens += 1
        tokens[token] = Token(client: client.id, scopes: scopes, end: end)
    }

    /// Forgets tokens as if they had expired.
    mutating func expireTokens(of client: String?) { tokens.keep { client != nil && $0.client != client } }

    /// - Returns: A token that was issued here, expired or not, of a client that lives or is gone.
    func token(_ text: String) -> Token? { tokens[text] }
}

/// Signs software statements; the same facts give the same text.
struct StatementIssuer: Sendable {
    let key: SandboxSigningKey
    let certificate: Certificate

    private struct Claims: Encodable {
        let iss: String
        let softwareID: String
        let iat: Int

        enum CodingKeys: String, CodingKey {
            case iss, iat
            case softwareID = "software_id"
        }
    }

    func statement(_ id: String, serviceProviders: [String], scopes: [String]) throws -> SoftwareStatement {
        let claims = Claims(iss: "https://upstream.sandbox.example", softwareID: id, iat: 1_767_225_600)
        let input =
            Base64.urlText(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8)) + "." + Base64.urlText(try VendorAnswer.encoded(claims))
        let text = input + "." + Base64.urlText(try key.sign(Array(input.utf8)))
        return SoftwareStatement(id: id, text: text, serviceProviders: serviceProviders, scopes: scopes)
    }

    /// True when a text is a statement of this issuer, known or not.
    func isGenuine(_ text: String) -> Bool {
        guard let token = CompactToken(text), token.header["alg"]?.text == "RS256" else { return false }
        return (try? certificate.verify(token.signature, over: token.signingInput, digest: "SHA256")) != nil
    }
}

/// A software statement that the stand-in made or was told of.
struct SoftwareStatement: Sendable, Codable, Equatable {
    /// The statement's `software_id`.
    let id: String
    /// The compact text: registration takes exactly this.
    let text: String
    /// Ids, or `*` for all.
    let serviceProviders: [String]
    let scopes: [String]
    var isRevoked = false

    func covers(_ serviceProvider: String) -> Bool { serviceProviders.contains { $0 == "*" || $0 == serviceProvider } }

    /// The scope of REST v2 (rest-v2 §1.3), and the one of the reset of TempPass.
    static let apiScope = "api:client:v2"
    static let resetScope = "temporary:passes:owner"
}
