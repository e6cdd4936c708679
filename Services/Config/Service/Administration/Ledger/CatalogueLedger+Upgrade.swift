internal import CatalogueFiles
internal import Contracts
internal import Storage

extension CatalogueLedger {
    /// Makes a version in which OAuth records of before each had an address of their own go on at the one that they share: MVPDs know no other of them. Once, when a
    /// release that knows both reads the store for the first time.
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
