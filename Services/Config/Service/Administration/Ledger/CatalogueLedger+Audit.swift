internal import Clocks
internal import Storage

extension CatalogueLedger {
    /// - Parameters:
    ///   - text: A sentence for people.
    ///   - programmers: Whose administrators may read it.
    func record(_ action: AuditAction, by author: String, _ text: String, version: UInt64 = 0, programmers: [String]) throws {
        let last = try database.first("SELECT number, record_sha256 FROM audit ORDER BY number DESC LIMIT 1") {
            (number: $0.next() as Int64, sha256: $0.next() as String)
        }
        let number = last?.number ?? 0
        var entry = AuditEntry(
            number: UInt64(number + 1), createdAt: now, author: author, action: action.rawValue, text: text, version: version,
            programmers: programmers, previousSHA256: last?.sha256 ?? HashChain.start)
        entry.recordSHA256 = entry.link
        try run(
            "INSERT INTO audit (\(AuditEntry.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                Int64(entry.number), now, author, entry.action, text, Int64(version), ProgrammerList.text(programmers), entry.previousSHA256,
                entry.recordSHA256,
            ])
    }

    /// Removes records from before a moment, but never the newest; that they are gone is one more record.
    /// - Returns: How many.
    func forgetAudit(before moment: Timestamp) throws -> Int {
        let last = try database.first(
            """
            SELECT number, record_sha256 FROM audit WHERE created_at_ms < ? AND number < (SELECT max(number) FROM audit) ORDER BY number DESC LIMIT 1
            """, [moment]
        ) { (number: $0.next() as Int64, sha256: $0.next() as String) }
        guard let last else { return 0 }
        try record(.auditForgotten, by: AuditAuthor.time, "Audit records up to \(last.number) removed: their time is over", programmers: [])
        try run("INSERT INTO audit_start (number, record_sha256, removed_at_ms) VALUES (?, ?, ?)", [last.number, last.sha256, now])
        return try database.run("DELETE FROM audit WHERE number <= ?", [last.number])
    }

    /// Where the chain begins.
    func startOfAudit() throws -> (number: UInt64, sha256: String) {
        let start = try database.first("SELECT number, record_sha256 FROM audit_start ORDER BY number DESC LIMIT 1") {
            (number: UInt64($0.next() as Int64), sha256: $0.next() as String)
        }
        return start ?? (0, HashChain.start)
    }

    /// Newest first.
    func auditEntries() throws -> [AuditEntry] {
        try database.all("SELECT \(AuditEntry.columns) FROM audit ORDER BY number DESC") { AuditEntry(columns: &$0) }
    }

    /// A page of what the reader may see, newest first, and how much that is on all pages.
    func auditEntries(for rights: Rights, _ page: Page) throws -> (entries: [AuditEntry], total: Int) {
        let scope = RecordScope(rights)
        let total: Int? = try database.value("SELECT count(*) FROM audit WHERE \(scope.condition)", scope.arguments)
        let entries = try database.all(
            "SELECT \(AuditEntry.columns) FROM audit WHERE \(scope.condition) ORDER BY number DESC LIMIT ? OFFSET ?",
            scope.arguments + [Int(page.size), page.offset]
        ) { AuditEntry(columns: &$0) }
        return (entries, total ?? 0)
    }
}
