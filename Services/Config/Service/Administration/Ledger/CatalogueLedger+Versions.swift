internal import CatalogueFiles
internal import Contracts
internal import Cryptography
internal import Faults
internal import StrictJson
internal import Storage

extension CatalogueLedger {
    func newestVersion() throws -> VersionRecord? {
        try database.first("SELECT \(VersionRecord.columns) FROM version ORDER BY version DESC LIMIT 1") { VersionRecord(columns: &$0) }
    }

    /// - Throws: `not_found`.
    func version(_ number: UInt64) throws -> VersionRecord {
        let found = try database.first("SELECT \(VersionRecord.columns) FROM version WHERE version = ?", [Int64(clamping: number)]) {
            VersionRecord(columns: &$0)
        }
        guard let found else { throw Fault.notFound("version") }
        return found
    }

    /// Newest first.
    func versions() throws -> [VersionRecord] {
        try database.all("SELECT \(VersionRecord.columns) FROM version ORDER BY version DESC") { VersionRecord(columns: &$0) }
    }

    /// The newest version that came from the catalogue file; not what a person brought.
    func newestImport() throws -> VersionRecord? {
        try database.first(
            "SELECT \(VersionRecord.columns) FROM version WHERE origin = ? AND author = ? ORDER BY version DESC LIMIT 1",
            [VersionOrigin.file.rawValue, AuditAuthor.file]
        ) { VersionRecord(columns: &$0) }
    }

    func document(_ sha256: String) throws -> CatalogueDocument {
        if let known = documents.document(sha256) { return known }
        let content = try documentBytes(sha256)
        guard Hex.encode(SHA256.hash(content)) == sha256 else {
            throw Fault(.internal, "A document of the catalogue was changed in the store; restore it from a backup.")
        }
        let document = try read(content)
        documents.keep(document, sha256)
        return document
    }

    func documentBytes(_ sha256: String) throws -> [UInt8] {
        let content: [UInt8]? = try database.value("SELECT content FROM document WHERE sha256 = ?", [sha256])
        guard let content else { throw Fault(.internal, "The store lacks a document of the catalogue.") }
        return content
    }

    /// - Parameter content: Of a draft or a proposal, in its canonical form.
    func document(of content: [UInt8]) throws -> CatalogueDocument {
        let sha256 = Hex.encode(SHA256.hash(content))
        if let known = documents.document(sha256) { return known }
        let document = try read(content)
        documents.keep(document, sha256)
        return document
    }

    func read(_ content: [UInt8]) throws -> CatalogueDocument {
        do throws(JsonSyntaxError) {
            return try CatalogueDocument(parsing: content)
        } catch {
            throw Fault(.internal, "A document in the store is damaged.", cause: error)
        }
    }

    /// What a version's document means, without software ids, rules and keys.
    func configuration(of record: VersionRecord) throws -> Configuration {
        if let known = documents.configuration(record.documentSHA256) { return known }
        let document = try document(record.documentSHA256)
        let configuration = try DocumentCheck.configuration(of: document, self)
        documents.keep(document, record.documentSHA256, configuration)
        return configuration
    }

    /// Makes a document the newest version; its number is the next one of what is published.
    func append(
        _ document: CatalogueDocument, meaning configuration: Configuration, author: String, approver: String = "", description: String,
        origin: VersionOrigin, programmers: [String]
    ) throws -> VersionRecord {
        let content = document.tree.canonicalBytes
        let sha256 = Hex.encode(SHA256.hash(content))
        try run("INSERT INTO document (sha256, content) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING", [sha256, content])
        var record = VersionRecord(
            version: try nextVersion(), createdAt: now, author: author, approver: approver, description: description, origin: origin,
            documentSHA256: sha256, programmers: programmers)
        record.previousSHA256 = try newestVersion()?.recordSHA256 ?? HashChain.start
        record.recordSHA256 = record.link
        try insert(record)
        documents.keep(document, sha256, configuration)
        return record
    }

    private func insert(_ record: VersionRecord) throws {
        try run(
            "INSERT INTO version (\(VersionRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                Int64(record.version), record.createdAt, record.author, record.approver, record.description, record.origin.rawValue,
                record.documentSHA256, ProgrammerList.text(record.programmers), record.previousSHA256, record.recordSHA256,
            ])
    }
}
