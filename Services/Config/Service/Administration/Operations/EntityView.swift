internal import CatalogueFiles
internal import Contracts

/// How an entry is shown to an administrator.
struct EntityView: Sendable {
    let document: CatalogueDocument
    /// The newest version's.
    let live: CatalogueDocument

    func entity(_ key: EntityKey) -> CatalogueEntity {
        guard let tree = document[key] else { return CatalogueEntity(kind: key.section.kind, id: key.id, isChanged: live[key] != nil) }
        return entity(key, tree)
    }

    func entity(_ key: EntityKey, _ tree: JsonTree) -> CatalogueEntity {
        CatalogueEntity(kind: key.section.kind, id: key.id, json: tree.canonical, etag: tree.sha256, isChanged: live[key] != tree)
    }
}
