internal import CatalogueFiles
internal import Contracts

/// What became of a catalogue that somebody wrote as a whole.
struct ImportOutcome: Sendable {
    enum Verdict: Sendable {
        /// It is what was taken in last.
        case unchanged
        case taken
        /// It would replace what administrators pushed; they stay.
        case refused
    }

    let verdict: Verdict
    /// What services are to have.
    var publication: Publication
    /// The versions that administrators made since the file was taken in last, newest first.
    var pushed: [UInt64] = []
    /// What it changes of the newest version, or would change.
    var changes: [PropertyChange] = []
}

extension CatalogueLedger {
    /// What people made since the catalogue file was taken in last, newest first.
    func pushedVersions() throws -> [UInt64] {
        let last = try newestImport()?.version ?? 0
        return try versions().map(\.version).filter { $0 > last }
    }

    /// Takes in a catalogue when it is not what the file was at its last import. One that changed beside pushed versions is refused: it knows nothing of
    /// what administrators did, and would undo it. One that says the same as the newest version undoes nothing.
    /// - Parameters:
    ///   - author: Who brings it; the file itself by default.
    ///   - isForced: Whether it may replace pushed versions.
    func importCatalogue(
        _ document: CatalogueDocument, meaning configuration: Configuration, keys: String, author: String = AuditAuthor.file, isForced: Bool = false
    ) throws -> ImportOutcome {
        let last = try newestImport()
        // What a person brings is taken in even when the file said it once.
        let isKnown = author == AuditAuthor.file ? last?.documentSHA256 == document.tree.sha256 : false
        let newest = try newestVersion()
        if isKnown || newest?.documentSHA256 == document.tree.sha256 && author != AuditAuthor.file {
            return ImportOutcome(verdict: .unchanged, publication: try publish(keys: keys))
        }
        let pushed = try pushedVersions()
        let former = try newest.map { try self.document($0.documentSHA256) } ?? CatalogueDocument(.object([:]))
        let changes = former.changes(to: document)
        if !isForced, !pushed.isEmpty, !changes.isEmpty {
            return ImportOutcome(verdict: .refused, publication: try publish(keys: keys), pushed: pushed, changes: changes)
        }
        let programmers = RecordScope.programmers(of: changes, from: former, to: document)
        let list = pushed.reversed().map { "\($0)" }.joined(separator: ", ")
        let name = author == AuditAuthor.file ? "The catalogue file" : "An imported catalogue"
        let description = changes.isEmpty || pushed.isEmpty ? name : "\(name), in place of pushed versions: \(list)"
        let record = try append(
            document, meaning: configuration, author: author, description: description, origin: .file, programmers: programmers)
        try self.record(.fileImport, by: author, "\(description) (\(changes.count) changes)", version: record.version, programmers: programmers)
        return ImportOutcome(verdict: .taken, publication: try publish(keys: keys), pushed: pushed, changes: changes)
    }
}
