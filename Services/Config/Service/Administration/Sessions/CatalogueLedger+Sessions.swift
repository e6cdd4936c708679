internal import Clocks
internal import Storage

extension CatalogueLedger {
    /// Keeps a new session, and forgets those that are over.
    func open(_ session: KeptSession) throws {
        try database.run("DELETE FROM administrator_session WHERE ends_at_ms <= ?", [now])
        try database.run(
            "INSERT INTO administrator_session (\(KeptSession.columns), ends_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                session.digest, session.name, session.mark, session.client, session.openedAt, session.usedAt, session.roleWord,
                session.signedIn?.programmerIDs.joined(separator: " ") ?? "", session.endsAt,
            ])
    }

    /// - Returns: `nil` when it is over or never was.
    func session(_ digest: String) throws -> KeptSession? {
        try database.first("SELECT \(KeptSession.columns) FROM administrator_session WHERE digest = ? AND ends_at_ms > ?", [digest, now]) {
            KeptSession(columns: &$0)
        }
    }

    /// Notes that a session goes on.
    func use(_ session: KeptSession) throws {
        var session = session
        session.usedAt = now
        try database.run(
            "UPDATE administrator_session SET used_at_ms = ?, ends_at_ms = ? WHERE digest = ?", [now, session.endsAt, session.digest])
    }

    func end(_ session: KeptSession) throws {
        try database.run("DELETE FROM administrator_session WHERE digest = ?", [session.digest])
    }

    /// Those that go on, newest first.
    func sessions() throws -> [KeptSession] {
        try database.all(
            "SELECT \(KeptSession.columns) FROM administrator_session WHERE ends_at_ms > ? ORDER BY opened_at_ms DESC, digest", [now]
        ) { KeptSession(columns: &$0) }
    }
}
