package import Clocks
package import Faults
internal import Storage

extension SqliteAuthenticationStore: ClientStore {
    package func add(_ client: Client) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO client (id, secret_digest, software_id, redirect_uri, issued_at_ms, last_used_ms, has_acted) VALUES (?, ?, ?, ?, ?, ?, 0)
            """, [client.id, client.secretDigest, client.softwareID, client.redirectURI, client.issuedAt, client.issuedAt])
    }

    package func client(_ id: ClientID) async throws(Fault) -> Client? {
        let epoch: CoherentCache<ClientID, Client>.Epoch
        switch clients.lookup(id) {
        case .hit(let client): return client
        case .miss(let current): epoch = current
        }
        let found = try await store.first(
            "SELECT id, secret_digest, software_id, redirect_uri, issued_at_ms FROM client WHERE id = ?", [id]
        ) { columns in
            Client(
                id: columns.next(), secretDigest: columns.next(), softwareID: columns.next(), redirectURI: columns.next(),
                issuedAt: columns.next())
        }
        if let found { clients.offer(found, for: id, readIn: epoch) }
        return found
    }

    package func noteUse(of client: ClientID, at moment: Timestamp) async throws(Fault) {
        try await store.change("UPDATE client SET last_used_ms = ?1 WHERE id = ?2 AND last_used_ms < ?1", [moment, client])
    }

    package func forgetClients(usedBefore used: Timestamp, idleBefore idle: Timestamp, now: Timestamp) async throws(Fault) -> Int {
        // A client can make something only with a token, and asked for one a day before at the latest: what is found here stays true.
        let unused = try await store.read { database in
            let idle: [ClientID] = try database.values(
                "SELECT id FROM client WHERE has_acted = 0 AND last_used_ms < ?1 AND issued_at_ms < ?1 LIMIT ?2", [idle, Self.clientBatch])
            let over: [ClientID] = try database.values(
                """
                SELECT id FROM client WHERE has_acted = 1 AND last_used_ms < ?1 AND issued_at_ms < ?1 AND id NOT IN (SELECT client_id FROM session)
                    AND id NOT IN (SELECT client_id FROM registration_code WHERE expires_at_ms > ?2) LIMIT ?3
                """, [used, now, Self.clientBatch])
            return idle + over
        }
        guard !unused.isEmpty else { return 0 }
        defer { for id in unused { clients.forget(id) } }
        return try await store.write { database in
            try unused.reduce(0) { count, id in
                count + (try database.run("DELETE FROM client WHERE id = ?1 AND last_used_ms < ?2 AND issued_at_ms < ?2", [id, max(used, idle)]))
            }
        }
    }

    private static var clientBatch: Int { 500 }

    package func revoke(_ client: ClientID) async throws(Fault) -> Bool {
        defer { clients.forget(client) }
        let revoke: Statement = "DELETE FROM client WHERE id = ?"
        guard !store.isCoherent else { return try await store.change(revoke, [client]) == 1 }
        let wasKnown = try await store.write { database in
            let wasKnown = try database.run(revoke, [client]) == 1
            try database.run(ClientEpoch.advance)
            return wasKnown
        }
        await ClientEpoch.heardByAll()
        return wasKnown
    }
}

extension Database {
    /// Notes that a client has made something.
    func noteAct(of client: ClientID) throws { try run(Client.noteAct, [client]) }
}

extension Client {
    static let noteAct: Statement = "UPDATE client SET has_acted = 1 WHERE id = ? AND has_acted = 0"
}
