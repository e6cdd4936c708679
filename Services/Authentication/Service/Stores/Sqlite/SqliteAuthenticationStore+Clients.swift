internal import Faults
internal import Storage

extension SqliteAuthenticationStore: ClientStore {
    func add(_ client: Client) async throws(Fault) {
        try await store.write { database in
            let sql = "INSERT INTO client (id, secret_digest, software_id, redirect_uri, issued_at_ms) VALUES (?, ?, ?, ?, ?)"
            try database.cachedStatement(sql: sql).execute(
                arguments: [client.id, client.secretDigest, client.softwareID, client.redirectURI, client.issuedAt])
        }
    }

    func client(_ id: ClientID) async throws(Fault) -> Client? {
        let epoch: CoherentCache<ClientID, Client>.Epoch
        switch clients.lookup(id) {
        case .hit(let client): return client
        case .miss(let current): epoch = current
        }
        let found = try await store.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM client WHERE id = ?")
            return try Row.fetchOne(statement, arguments: [id]).map(Client.init(row:))
        }
        if let found { clients.offer(found, for: id, readIn: epoch) }
        return found
    }

    func revoke(_ client: ClientID) async throws(Fault) -> Bool {
        defer { clients.forget(client) }
        return try await store.write { database in
            try database.cachedStatement(sql: "DELETE FROM client WHERE id = ?").execute(arguments: [client])
            return database.changesCount == 1
        }
    }
}

extension Client {
    fileprivate init(row: Row) {
        self.init(
            id: row["id"], secretDigest: row["secret_digest"], softwareID: row["software_id"], redirectURI: row["redirect_uri"],
            issuedAt: row["issued_at_ms"])
    }
}
