internal import Clocks
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: ClientStore {
    func add(_ client: Client) async throws(Fault) {
        try await store.write { database in
            let sql = """
                INSERT INTO client (id, secret_digest, software_id, redirect_uri, issued_at_ms, last_used_ms, has_acted) VALUES (?, ?, ?, ?, ?, ?, 0)
                """
            try database.cachedStatement(sql: sql).execute(
                arguments: [client.id, client.secretDigest, client.softwareID, client.redirectURI, client.issuedAt, client.issuedAt])
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

    func noteUse(of client: ClientID, at moment: Timestamp) async throws(Fault) {
        try await store.write { database in
            try database.cachedStatement(sql: "UPDATE client SET last_used_ms = ? WHERE id = ? AND last_used_ms < ?")
                .execute(arguments: [moment, client, moment])
        }
    }

    func forgetClients(usedBefore used: Timestamp, idleBefore idle: Timestamp, now: Timestamp) async throws(Fault) -> Int {
        // A client can make something only with a token, and asked for one a day before at the latest: what is found here stays true.
        let unused = try await store.read { database in
            let old = "max(last_used_ms, issued_at_ms) < ?"
            let idle = try ClientID.fetchAll(
                database, sql: "SELECT id FROM client WHERE has_acted = 0 AND \(old) LIMIT ?", arguments: [idle, Self.clientBatch])
            let over = try ClientID.fetchAll(
                database,
                sql: """
                    SELECT id FROM client WHERE has_acted = 1 AND \(old) AND id NOT IN (SELECT client_id FROM session)
                        AND id NOT IN (SELECT client_id FROM registration_code WHERE expires_at_ms > ?) LIMIT ?
                    """, arguments: [used, now, Self.clientBatch])
            return idle + over
        }
        guard !unused.isEmpty else { return 0 }
        defer { for id in unused { clients.forget(id) } }
        return try await store.write { database in
            let statement = try database.cachedStatement(sql: "DELETE FROM client WHERE id = ? AND max(last_used_ms, issued_at_ms) < ?")
            return try unused.reduce(0) { count, id in
                try statement.execute(arguments: [id, max(used, idle)])
                return count + database.changesCount
            }
        }
    }

    private static var clientBatch: Int { 500 }

    func revoke(_ client: ClientID) async throws(Fault) -> Bool {
        defer { clients.forget(client) }
        return try await store.write { database in
            try database.cachedStatement(sql: "DELETE FROM client WHERE id = ?").execute(arguments: [client])
            return database.changesCount == 1
        }
    }
}

extension Database {
    /// Notes that a client has made something.
    func noteAct(of client: ClientID) throws {
        try cachedStatement(sql: "UPDATE client SET has_acted = 1 WHERE id = ? AND has_acted = 0").execute(arguments: [client])
    }
}

extension Client {
    fileprivate init(row: Row) {
        self.init(
            id: row["id"], secretDigest: row["secret_digest"], softwareID: row["software_id"], redirectURI: row["redirect_uri"],
            issuedAt: row["issued_at_ms"])
    }
}
