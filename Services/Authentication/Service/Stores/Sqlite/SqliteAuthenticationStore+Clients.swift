internal import Faults
internal import Storage

extension SqliteAuthenticationStore: ClientStore {
    func add(_ client: Client) async throws(Fault) {
        try await store.write { database in
            let sql = "INSERT INTO client (id, secret_digest, software_id, redirect_uri, issued_at_ms) VALUES (?, ?, ?, ?, ?)"
            try database.cachedStatement(sql: sql).execute(
                arguments: [client.id, client.secretDigest, client.softwareID, client.redirectURI, client.issuedAt])
        }
        clients.withLock { $0[client.id] = client }
    }

    func client(_ id: ClientID) async throws(Fault) -> Client? {
        if let known = clients.withLock({ $0[id] }) { return known }
        let found = try await store.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM client WHERE id = ?")
            return try Row.fetchOne(statement, arguments: [id]).map(Client.init(row:))
        }
        if let found { clients.withLock { $0[id] = found } }
        return found
    }
}

extension Client {
    fileprivate init(row: Row) {
        self.init(
            id: row["id"], secretDigest: row["secret_digest"], softwareID: row["software_id"], redirectURI: row["redirect_uri"],
            issuedAt: row["issued_at_ms"])
    }
}
