internal import Clocks
internal import Identifiers
internal import Storage

/// Statements about security events.
extension Database {
    func insert(_ event: SecurityEventRecord) throws {
        try run(
            """
            INSERT INTO security_event (at_ms, kind, family_id, account_id, requestor, expires_at_ms, number)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, coalesce((SELECT max(number) + 1 FROM security_event WHERE at_ms = ?1), 0))
            """,
            [
                event.at, event.kind.name, event.family?.text ?? "", event.account?.text ?? "", event.requestor?.text ?? "",
                event.at + SecurityEventRecord.memory,
            ])
    }

    /// Latest first.
    func securityEvents(limit: Int) throws -> [SecurityEventRecord] {
        try all(
            "SELECT family_id, account_id, requestor, at_ms, kind FROM security_event ORDER BY at_ms DESC, number DESC LIMIT ?", [limit]
        ) { SecurityEventRecord(columns: &$0) }
    }
}

extension SecurityEventRecord {
    fileprivate init(columns: inout ColumnReader) {
        func id<Subject>(_ text: String) -> Identifier<Subject>? { text.isEmpty ? nil : Identifier(text) }
        let (family, account, requestor): (String, String, String) = (columns.next(), columns.next(), columns.next())
        self.init(
            at: columns.next(), kind: SecurityEventKind(name: columns.next()), family: id(family), account: id(account), requestor: id(requestor))
    }
}
