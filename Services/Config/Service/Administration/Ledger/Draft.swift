internal import CatalogueFiles
internal import Contracts

/// What one administrator is changing: a document of its own, and the version that it began with.
struct Draft: Sendable {
    let base: VersionRecord
    let baseDocument: CatalogueDocument
    var document: CatalogueDocument

    var changes: [PropertyChange] { baseDocument.changes(to: document) }

    /// Changes with every change; of a draft that has any.
    var etag: String { HashChain.link(["\(base.version)"], after: document.tree.sha256) }

    var contract: CatalogueDraft {
        let changes = changes
        return CatalogueDraft(baseVersion: base.version, changes: changes.lines, etag: changes.isEmpty ? "" : etag)
    }
}
