internal import Storage

extension CatalogueLedger {
    /// - Parameters:
    ///   - text: A sentence for people.
    ///   - programmers: Whose administrators may read it.
    func record(_ action: AuditAction, by author: String, _ text: String, version: UInt64 = 0, programmers: [String]) throws {
        let last = try Row.fetchOne(database, sql: "SELECT number, record_sha256 FROM audit ORDER BY number DESC LIMIT 1")
        let number = last.map { $0["number"] as Int64 } ?? 0
        var entry = AuditEntry(
            number: UInt64(number + 1), createdAt: now, author: author, action: action.rawValue, text: text, version: version,
            programmers: programmers, previousSHA256: last.map { $0["record_sha256"] } ?? HashChain.start)
        entry.recordSHA256 = entry.link
        try database.execute(
            sql: """
                INSERT INTO audit (number, created_at_ms, author, action, text, version, programmers, previous_sha256, record_sha256)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                Int64(entry.number), now, author, entry.action, text, Int64(version), ProgrammerList.text(programmers), entry.previousSHA256,
                entry.recordSHA256,
            ])
    }

    /// Newest first.
    func auditEntries() throws -> [AuditEntry] {
        try Row.fetchAll(database, sql: "SELECT * FROM audit ORDER BY number DESC").map(AuditEntry.init)
    }

    /// A page of what the reader may see, newest first, and how much that is on all pages.
    func auditEntries(for rights: Rights, _ page: Page) throws -> (entries: [AuditEntry], total: Int) {
        let scope = RecordScope(rights)
        let count = "SELECT count(*) FROM audit WHERE \(scope.condition)"
        let total = try Int.fetchOne(database, sql: count, arguments: StatementArguments(scope.arguments)) ?? 0
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM audit WHERE \(scope.condition) ORDER BY number DESC LIMIT ? OFFSET ?",
            arguments: StatementArguments(scope.arguments + [Int(page.size).databaseValue, page.offset.databaseValue]))
        return (rows.map(AuditEntry.init), total)
    }
}
