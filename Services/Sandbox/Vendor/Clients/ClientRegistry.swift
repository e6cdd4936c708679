internal import SandboxKit
internal import Clocks

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

    /// - Returns: Whether there is such a statement.
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
    /// - Returns: Whether there was one.
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
