internal import CatalogueFiles
internal import Contracts
internal import Storage

/// Which OAuth records may share a callback: those that have done so in the life that they have (decision 0088).
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

    /// A former version's document to be restored. OAuth records that do not say their callback say what it was then: the shared one before the upgrade, for those that
    /// the upgrade let share, and their own where the draft would have them keep another.
    /// - Parameter current: What it takes the place of.
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
