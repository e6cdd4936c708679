internal import CatalogueFiles
internal import Contracts
internal import Cryptography
internal import Faults
internal import Storage

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
