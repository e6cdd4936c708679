internal import Clocks
internal import Identifiers
internal import Storage

/// Statements about security events.
extension Database {
    func insert(_ event: SecurityEventRecord) throws {
        let sql = "INSERT INTO security_event (at_ms, kind, family_id, account_id, requestor, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)"
        try cachedStatement(sql: sql).execute(arguments: [
            event.at, event.kind.name, event.family?.text ?? "", event.account?.text ?? "", event.requestor?.text ?? "",
            event.at + SecurityEventRecord.memory,
        ])
    }

    /// Latest first.
    func securityEvents(limit: Int) throws -> [SecurityEventRecord] {
        let statement = try cachedStatement(sql: "SELECT * FROM security_event ORDER BY at_ms DESC, rowid DESC LIMIT ?")
        return try Row.fetchAll(statement, arguments: [limit]).map(SecurityEventRecord.init(row:))
    }
}

extension SecurityEventRecord {
    fileprivate init(row: Row) {
        func id<Subject>(_ column: String) -> Identifier<Subject>? {
            let text: String = row[column]
            return text.isEmpty ? nil : Identifier(text)
        }
        self.init(
            at: row["at_ms"], kind: SecurityEventKind(name: row["kind"]), family: id("family_id"), account: id("account_id"),
            requestor: id("requestor"))
    }
}
