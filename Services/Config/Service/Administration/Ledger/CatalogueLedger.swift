internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Storage
internal import Tokens

/// The store as one transaction sees it, at one moment.
struct CatalogueLedger {
    let database: Database
    let now: Timestamp
    let documents: DocumentCache
    /// Nothing is written: what is read and computed is remembered for the transaction that comes then.
    var isRehearsal = false

    /// Runs a statement that changes rows.
    func run(_ statement: Statement, _ arguments: Arguments) throws {
        if !isRehearsal { try database.run(statement, arguments) }
    }
}

extension CatalogueLedger {
    /// Makes a version for OAuth records from before each had its own address. They go on at the shared one: MVPDs know no other of them. Once, when
    /// a release that knows both reads the store for the first time.
    func keepFormerCallbacks() throws {
        guard let newest = try newestVersion() else { return }
        let reading: Int64 = try database.value("SELECT reading FROM published") ?? 0
        guard reading < CatalogueReading.levelOfCallbacks else { return }
        let former = try document(newest.documentSHA256)
        let document = former.sharingCallbacks
        let changes = former.changes(to: document)
        if changes.isEmpty { return }
        let configuration = try DocumentCheck.configuration(of: document, self)
        let programmers = RecordScope.programmers(of: changes, from: former, to: document)
        let description = "OAuth records of before the upgrade keep the callback that they share"
        let record = try append(
            document, meaning: configuration, author: AuditAuthor.upgrade, description: description, origin: .file, programmers: programmers)
        try self.record(
            .fileImport, by: AuditAuthor.upgrade, "\(description) (\(changes.count) changes)", version: record.version, programmers: programmers)
    }
}

/// The OAuth records that may share a callback: those that have done so in the life that they have (decision 0088).
extension CatalogueLedger {
    /// Those of some MVPDs that shared a callback in any version of the life that a new document goes on with.
    func formerSharers(among ids: [String], in document: CatalogueDocument) throws -> Set<OctetText> {
        if ids.isEmpty { return [] }
        let (lives, owners) = (try updatedLives(), document.livingOwners())
        return Set(
            texts: ids.filter { id in
                let key = LivingKey(.mvpd, id)
                guard let shared = lives[LivingKey(.sharer, id)], let life = lives[key] else { return false }
                return (life.until == nil || life.owner == owners[key]) && shared.since >= life.since
            })
    }

    /// A former version's document to be restored. OAuth records that do not say their callback get the one of that time. It is the shared one before
    /// the upgrade, for those that the upgrade let share. It is their own where the draft would have them keep another.
    /// - Parameter current: The version that it takes the place of.
    func restorable(_ version: VersionRecord, over current: CatalogueDocument) throws -> CatalogueDocument {
        let document = try document(version.documentSHA256)
        let unsaid = document.unsaidCallbacks
        if unsaid.isEmpty { return document }
        let upgrades = try database.all(
            "SELECT \(VersionRecord.columns) FROM version WHERE author = ? AND version > ? ORDER BY version",
            [AuditAuthor.upgrade, Int64(version.version)]
        ) { VersionRecord(columns: &$0) }
        let marked = try upgrades.reduce(into: Set<OctetText>()) { $0.formUnion(try self.document($1.documentSHA256).sharers) }
        let sharers = try formerSharers(among: unsaid.filter { marked.contains(OctetText($0)) }, in: document)
        return document.sayingCallbacks(sharers: sharers, over: current)
    }
}

extension CatalogueLedger {
    /// Computes both chains anew (dashboard #29).
    /// - Parameter isDeep: True when every document is read too; otherwise only the newest one is.
    func verdict(readingDocuments isDeep: Bool) throws -> HistoryVerdict {
        let versions = try versions()
        let audit = try auditEntries()
        var problems = Self.problems(versions.reversed().map { ("version \($0.version)", $0.previousSHA256, $0.recordSHA256, $0.link) })
        let start = try startOfAudit()
        problems += Self.problems(
            audit.reversed().map { ("audit record \($0.number)", $0.previousSHA256, $0.recordSHA256, $0.link) }, after: start.sha256)
        for (index, entry) in audit.reversed().enumerated() where entry.number != start.number + UInt64(index + 1) {
            problems.append("audit record \(start.number + UInt64(index + 1)): is missing")
            break
        }
        for version in isDeep ? versions[...] : versions.prefix(1) where try !isIntact(version) {
            problems.append("version \(version.version): the document was changed")
        }
        return HistoryVerdict(
            isIntact: problems.isEmpty, problems: problems, versions: UInt64(versions.count), auditRecords: UInt64(audit.count))
    }

    /// True when a version's document is the one that was pushed.
    func isIntact(_ version: VersionRecord) throws -> Bool {
        Hex.encode(SHA256.hash(try documentBytes(version.documentSHA256))) == version.documentSHA256
    }

    private static func problems(
        _ links: [(name: String, previous: String, stored: String, computed: String)], after start: String = HashChain.start
    ) -> [String] {
        var previous = start
        var problems: [String] = []
        for link in links {
            if link.stored != link.computed { problems.append("\(link.name): the record was changed") }
            if link.previous != previous { problems.append("\(link.name): the record before it was changed or is missing") }
            previous = link.stored
        }
        return problems
    }
}

/// A public key of software statements that services have, or had.
struct PublishedKey: Sendable {
    /// `kid`.
    let name: String
    /// As JSON.
    let jwk: String
    /// 1970 for those that a store began with.
    let since: Timestamp
    let retiredAt: Timestamp?
}

extension CatalogueLedger {
    /// All that any copy ever had, oldest first.
    func statementKeys() throws -> [PublishedKey] {
        try database.all("SELECT kid, jwk, since_ms, retired_at_ms FROM statement_key ORDER BY since_ms, kid") { columns in
            PublishedKey(name: columns.next(), jwk: columns.next(), since: columns.next(), retiredAt: columns.next())
        }
    }

    /// The JWK set that verifies software statements: what a copy has beside what all have, without those that were taken out.
    func keySet(with keys: [JSONWebKey]) throws -> String {
        var known = try statementKeys()
        // No service knows others yet.
        let since = known.isEmpty ? Timestamp(milliseconds: 0) : now
        let names = Set(texts: known.map(\.name))
        for key in keys where !names.contains(OctetText(key.identifier)) {
            try run(
                "INSERT INTO statement_key (kid, jwk, since_ms) VALUES (?, ?, ?) ON CONFLICT (kid) DO NOTHING", [key.identifier, key.json, since])
        }
        known = try statementKeys()
        return #"{"keys":[\#(known.filter { $0.retiredAt == nil }.map(\.jwk).joined(separator: ","))]}"#
    }

    /// Takes a key out for good: statements that it signed are refused from then on, and no copy signs with it.
    /// - Throws: `not_found`; a `DocumentRejection` as its cause when it is the only one.
    func retireStatementKey(_ name: String) throws {
        let keys = try statementKeys().filter { $0.retiredAt == nil }
        guard keys.contains(where: { $0.name == name }) else { throw Fault.notFound("key of software statements") }
        guard keys.count > 1 else {
            throw Fault(.invalidRequest, "It is the only key of software statements: let a copy have another one first.")
        }
        try run("UPDATE statement_key SET retired_at_ms = ? WHERE kid = ?", [now, name])
    }
}

extension CatalogueLedger {
    /// - Parameters:
    ///   - text: A sentence for people.
    ///   - programmers: The programmers whose administrators may read it.
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
    /// - Returns: The number of removed records.
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

    /// Returns where the chain begins.
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

extension CatalogueLedger {
    /// The administrator's draft, without what is not theirs any more; a new one on the newest version when there is none.
    func draft(of rights: Rights) throws -> Draft {
        let kept = try database.first("SELECT base_version, content FROM draft WHERE author = ?", [rights.name]) {
            (base: UInt64($0.next() as Int64), content: $0.next() as [UInt8])
        }
        let newest = try requireNewest()
        let live = try document(newest.documentSHA256)
        if let kept { return try draft(on: kept.base, kept.content).narrowed(to: rights, in: live) }
        return Draft(base: newest, baseDocument: live, document: live)
    }

    func hasDraft(_ author: String) throws -> Bool {
        try database.hasRow("SELECT 1 FROM draft WHERE author = ?", [author])
    }

    /// Keeps the draft; one without changes is no draft.
    func keep(_ draft: Draft, of author: String) throws {
        if draft.changes.isEmpty { return try discardDraft(of: author) }
        let document = try storable(draft)
        let content = document.tree.canonicalBytes
        try run(
            """
            INSERT INTO draft (author, base_version, content, changed_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (author) DO UPDATE SET base_version = excluded.base_version, content = excluded.content, changed_at_ms = excluded.changed_at_ms
            """, [author, Int64(draft.base.version), content, now])
        // It is read again by the next page, and by the next change.
        documents.keep(document, Hex.encode(SHA256.hash(content)))
    }

    /// The draft's document as a change of the version that it began with: what others have by now is in it as it was then.
    func storable(_ draft: Draft) throws -> CatalogueDocument {
        guard !draft.lost.isEmpty else { return draft.document }
        let base = try document(draft.base.documentSHA256)
        var document = draft.document
        for key in draft.lost { document[key] = base[key] }
        return document
    }

    func discardDraft(of author: String) throws { try run("DELETE FROM draft WHERE author = ?", [author]) }

    func draft(on version: UInt64, _ content: [UInt8]) throws -> Draft {
        let base = try self.version(version)
        return Draft(base: base, baseDocument: try document(base.documentSHA256), document: try self.document(of: content))
    }

    /// The version that is live.
    func requireNewest() throws -> VersionRecord {
        guard let newest = try newestVersion() else { throw Fault(.unavailable, "The catalogue has no version yet.", retryAfter: .seconds(1)) }
        return newest
    }

    func newestDocument() throws -> CatalogueDocument { try document(try requireNewest().documentSHA256) }

    func newestConfiguration() throws -> Configuration { try configuration(of: try requireNewest()) }
}
