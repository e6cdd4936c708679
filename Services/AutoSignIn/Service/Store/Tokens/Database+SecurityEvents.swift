internal import Clocks
internal import Identifiers
internal import Storage
internal import Synchronization

/// Statements about security events.
extension Database {
    func insert(_ event: SecurityEventRecord) throws {
        try run(
            """
            INSERT INTO security_event (at_ms, kind, family_id, account_id, requestor, expires_at_ms, number)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                event.at, event.kind.name, event.family?.text ?? "", event.account?.text ?? "", event.requestor?.text ?? "",
                event.at + SecurityEventRecord.memory, SecurityEventRecord.number.add(1, ordering: .relaxed).newValue,
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
    /// Tells events of one millisecond apart in the order of this copy, without a look at those of others.
    fileprivate static let number = Atomic<Int64>(0)

    fileprivate init(columns: inout ColumnReader) {
        func id<Subject>(_ text: String) -> Identifier<Subject>? { text.isEmpty ? nil : Identifier(text) }
        let (family, account, requestor): (String, String, String) = (columns.next(), columns.next(), columns.next())
        self.init(
            at: columns.next(), kind: SecurityEventKind(name: columns.next()), family: id(family), account: id(account), requestor: id(requestor))
    }
}
