internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

extension SqliteAuthenticationStore {
    func sessions(
        named name: String, userIDs: [String], at requestor: RequestorID, mvpd: MvpdID, most: Int
    ) async throws(Fault) -> [SessionRecord] {
        let found = try await store.read { database in
            let named: Statement = """
                SELECT \(SessionRecord.columns) FROM session WHERE name_id = ? AND requestor = ? AND mvpd = ? ORDER BY created_at_ms DESC LIMIT ?
                """
            // The condition on the kind is the index's, word for word.
            let known: Statement = """
                SELECT \(SessionRecord.columns) FROM session WHERE user_id = ? AND requestor = ? AND mvpd = ? AND kind <= 1
                ORDER BY created_at_ms DESC LIMIT ?
                """
            var found = try database.all(named, [name, requestor, mvpd, most]) { try SessionRecord(columns: &$0) }
            for id in userIDs { found += try database.all(known, [id, requestor, mvpd, most]) { try SessionRecord(columns: &$0) } }
            return found
        }
        return SessionRecord.newest(living(found), most)
    }
}

extension SessionRecord {
    /// Each once, the newest first.
    static func newest(_ sessions: [SessionRecord], _ most: Int) -> [SessionRecord] {
        var known: Set<SessionID> = []
        return Array(sessions.filter { known.insert($0.id).inserted }.sorted { $0.createdAt > $1.createdAt }.prefix(most))
    }
}
