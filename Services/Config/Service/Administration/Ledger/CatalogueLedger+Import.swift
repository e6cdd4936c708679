internal import Contracts

/// What became of the catalogue file.
struct ImportOutcome: Sendable {
    var publication: Publication
    /// The versions that administrators pushed since the last import and that this one replaces.
    var replaced: [UInt64]
}

extension CatalogueLedger {
    /// Takes in the file when its content is not that of the last import; a pushed version stays otherwise.
    func importFile(_ document: CatalogueDocument, meaning configuration: Configuration, keys: String) throws -> ImportOutcome {
        let last = try newestImport()
        guard last?.documentSHA256 != document.tree.sha256 else {
            return ImportOutcome(publication: try publish(keys: keys), replaced: [])
        }
        let replaced = try versions().filter { $0.version > (last?.version ?? 0) && $0.origin == .push }.map(\.version)
        let former = try newestVersion().map { try self.document($0.documentSHA256) } ?? CatalogueDocument(.object([:]))
        let changes = former.changes(to: document)
        let programmers = RecordScope.programmers(of: changes, from: former, to: document)
        let list = replaced.reversed().map { "\($0)" }.joined(separator: ", ")
        let description = replaced.isEmpty ? "The catalogue file" : "The catalogue file, in place of pushed versions: \(list)"
        let record = try append(
            document, meaning: configuration, author: AuditAuthor.file, description: description, origin: .file, programmers: programmers)
        try self.record(
            .fileImport, by: AuditAuthor.file, "\(description) (\(changes.count) changes)", version: record.version, programmers: programmers)
        return ImportOutcome(publication: try publish(keys: keys), replaced: replaced)
    }
}
