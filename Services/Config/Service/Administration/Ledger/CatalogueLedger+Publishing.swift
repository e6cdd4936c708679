internal import CatalogueFiles
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Foundation
internal import Logging
internal import Storage
internal import StrictJson
internal import Tokens

/// The content that services have, or are to have now.
struct Publication: Sendable {
    var configuration: Configuration
    /// As it goes over the wire: of a newer release it holds more than this program knows.
    var encoded: [UInt8]
    /// False when services have it already.
    var isNew: Bool
    /// Software statements that ended with it: their applications' ids are other programmers' by now.
    var endedStatements: [EndedStatement] = []

    func tellEnded(_ logger: Logger) {
        for ended in endedStatements {
            logger.warning(
                "catalogue.statement_ended",
                metadata: ["softwareId": "\(ended.softwareID)", "application": "\(ended.application)", "programmer": "\(ended.programmer)"])
        }
    }
}

extension CatalogueLedger {
    /// The number that the next change gets: one more than the last, and never below the seconds since 1970. So a store that starts anew does not
    /// reuse a number that somebody still holds.
    func nextVersion() throws -> UInt64 { max(try publishedVersion() + 1, UInt64(max(0, now.seconds))) }

    func publishedVersion() throws -> UInt64 { UInt64(try database.value("SELECT version FROM published") as Int64? ?? 0) }

    /// The content for services after the changes of this transaction: the newest version's document with software ids, rules and keys. It gets a new
    /// number when one of these is another than what they had. How it is encoded decides nothing: copies of two releases encode the same in two ways,
    /// and would publish in turns.
    /// - Parameter keys: The keys that verify software statements, as this copy has them; all copies' are published.
    func publish(keys: [JSONWebKey]) throws -> Publication {
        let newest = try requireNewest()
        try settleFileOwners()
        try endOverdueRules()
        let lives = try updatedLives()
        let ended = try endFormerSoftwareIDs(lives)
        let rules = try activeRules()
        var inputs = InputsDigest()
        inputs.add(newest.documentSHA256)
        let keySet = try keySet(with: keys)
        inputs.add(keySet)
        for rule in try activeRuleContents() { inputs.add(rule) }
        var configuration = try configuration(of: newest)
        configuration.tell(lives)
        configuration.addSince(to: &inputs)
        for index in configuration.applications.indices {
            let life = lives[LivingKey(.application, configuration.applications[index].id)]
            configuration.applications[index].softwareIDs = try softwareIDs(
                of: configuration.applications[index].id, since: life?.since ?? Timestamp(milliseconds: 0))
            inputs.add(configuration.applications[index].id)
            for id in configuration.applications[index].softwareIDs { inputs.add(id) }
        }
        let digest = inputs.hex
        if var published = try published(inputs: digest, atLeast: newest.version) {
            published.endedStatements = ended
            return published
        }
        configuration.statementKeys = keySet
        configuration.degradationRules = rules.compactMap(\.rule)
        configuration.storeID = try storeIdentity()
        configuration.version = max(try nextVersion(), newest.version)
        configuration.changedAtMilliseconds = UInt64(max(0, now.milliseconds))
        let encoded = try configuration.serialized()
        try run(
            """
            INSERT INTO published ("only", version, changed_at_ms, content_sha256, inputs_sha256, content, content_version, reading)
            VALUES (1, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT ("only") DO UPDATE SET version = excluded.version, changed_at_ms = excluded.changed_at_ms,
                content_sha256 = excluded.content_sha256, inputs_sha256 = excluded.inputs_sha256, content = excluded.content,
                content_version = excluded.content_version,
                reading = CASE WHEN published.reading < excluded.reading THEN excluded.reading ELSE published.reading END
            """,
            [
                Int64(configuration.version), now, try digestOfOlderReleases(configuration), digest, encoded, Int64(configuration.version),
                CatalogueReading.level,
            ])
        return Publication(configuration: configuration, encoded: encoded, isNew: true, endedStatements: ended)
    }

    /// - Returns: The published content, if it was made of these inputs by a reader that knew as much as this one.
    /// - Parameter version: A version that says the same as the one before is served under its own number all the same.
    private func published(inputs: String, atLeast version: UInt64) throws -> Publication? {
        let known: [UInt8]? = try database.value(
            """
            SELECT content FROM published
            WHERE inputs_sha256 = ? AND reading >= ? AND content IS NOT NULL AND content_version = version
                AND version >= ?
            """, [inputs, CatalogueReading.level, Int64(version)])
        guard let encoded = known else { return nil }
        return Publication(configuration: try Configuration(serialized: encoded), encoded: encoded, isNew: false)
    }

    /// The identity of the store, made at random when it is first asked for.
    private func storeIdentity() throws -> String {
        try run(
            "INSERT INTO store_identity (\"only\", id) VALUES (1, ?) ON CONFLICT (\"only\") DO NOTHING", [UUID().uuidString.lowercased()])
        guard let id: String = try database.value("SELECT id FROM store_identity") else { throw Fault(.internal, "The store has no identity.") }
        return id
    }

    /// Releases before the column of inputs compare this one.
    private func digestOfOlderReleases(_ configuration: Configuration) throws -> String {
        var bare = configuration
        (bare.version, bare.changedAtMilliseconds, bare.storeID) = (0, 0, "")
        return Hex.encode(SHA256.hash(try bare.serialized()))
    }
}

/// A digest of texts, each with its length, so that no two lists of texts have the same.
private struct InputsDigest {
    private var octets: [UInt8] = []

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    mutating func add(_ bytes: [UInt8]) {
        withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { octets.append(contentsOf: $0) }
        octets += bytes
    }

    var hex: String { Hex.encode(SHA256.hash(octets)) }
}

extension Configuration {
    /// Only of what did not live since ever: a release that knows no lives makes the same of all others.
    fileprivate func addSince(to inputs: inout InputsDigest) {
        func add(_ kind: LivingKey.Kind, _ id: String, _ since: UInt64) {
            guard since > 0 else { return }
            for text in ["life", kind.rawValue, id, "\(since)"] { inputs.add(text) }
        }
        for requestor in requestors { add(.requestor, requestor.id, requestor.sinceMilliseconds) }
        for mvpd in mvpds { add(.mvpd, mvpd.id, mvpd.sinceMilliseconds) }
        for application in applications {
            for (digest, since) in zip(application.legacyStatements, application.legacySinceMilliseconds) { add(.statement, digest, since) }
            for client in application.clients { add(.client, client.clientID, client.sinceMilliseconds) }
        }
    }
}

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

    /// - Parameter content: The content of a draft or a proposal, in its canonical form.
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

    /// The meaning of a version's document, without software ids, rules and keys.
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
