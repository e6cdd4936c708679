internal import CatalogueFiles
internal import Contracts
internal import Cryptography
internal import Faults
internal import Storage

extension CatalogueLedger {
    /// The administrator's draft; a new one on the newest version when there is none.
    func draft(of author: String) throws -> Draft {
        let kept = try database.first("SELECT base_version, content FROM draft WHERE author = ?", [author]) {
            (base: UInt64($0.next() as Int64), content: $0.next() as [UInt8])
        }
        if let kept { return try draft(on: kept.base, kept.content) }
        let newest = try requireNewest()
        let document = try document(newest.documentSHA256)
        return Draft(base: newest, baseDocument: document, document: document)
    }

    func hasDraft(_ author: String) throws -> Bool {
        try database.hasRow("SELECT 1 FROM draft WHERE author = ?", [author])
    }

    /// Keeps the draft; one without changes is no draft.
    func keep(_ draft: Draft, of author: String) throws {
        if draft.changes.isEmpty { return try discardDraft(of: author) }
        let content = draft.document.tree.canonicalBytes
        try run(
            """
            INSERT INTO draft (author, base_version, content, changed_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (author) DO UPDATE SET base_version = excluded.base_version, content = excluded.content, changed_at_ms = excluded.changed_at_ms
            """, [author, Int64(draft.base.version), content, now])
        // It is read again by the next page, and by the next change.
        documents.keep(draft.document, Hex.encode(SHA256.hash(content)))
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
