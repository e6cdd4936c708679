internal import CatalogueFiles
internal import Contracts

/// What one administrator is changing: a document of its own, and the version that it began with.
struct Draft: Sendable {
    let base: VersionRecord
    private(set) var baseDocument: CatalogueDocument
    var document: CatalogueDocument
    /// Entries that stand in both documents as they are in the newest version: they belong to others by now.
    private(set) var lost: [EntityKey] = []

    init(base: VersionRecord, baseDocument: CatalogueDocument, document: CatalogueDocument) {
        self.base = base
        self.baseDocument = baseDocument
        self.document = document
    }

    var changes: [PropertyChange] { baseDocument.changes(to: document) }

    /// Changes with every change; of a draft that has any.
    var etag: String { HashChain.link(["\(base.version)"], after: document.tree.sha256) }

    var contract: CatalogueDraft {
        let changes = changes
        return CatalogueDraft(baseVersion: base.version, changes: changes.lines, etag: changes.isEmpty ? "" : etag)
    }

    /// Without what has come to another programmer since the draft was begun: the draft neither shows nor changes it any more (dashboard §4).
    /// - Parameter live: The newest version's document.
    func narrowed(to rights: Rights, in live: CatalogueDocument) -> Draft {
        var narrowed = self
        narrowed.lost = rights.lost([baseDocument, document], in: live)
        for key in narrowed.lost {
            narrowed.baseDocument[key] = live[key]
            narrowed.document[key] = live[key]
        }
        return narrowed
    }
}

extension Rights {
    /// The entries that were the administrator's in one of the documents, and are another programmer's in the newest one.
    fileprivate func lost(_ documents: [CatalogueDocument], in live: CatalogueDocument) -> [EntityKey] {
        guard !isOperator else { return [] }
        func foreign(_ section: CatalogueSection) -> Set<EntityKey> {
            Set(live.entries(section).filter { !sees(programmer: $0.tree["programmer"]?.text ?? "") }.map(\.key))
        }
        var lost: Set<EntityKey> = []
        for section in [CatalogueSection.requestors, .applications] {
            let foreign = foreign(section)
            for document in documents {
                let own = document.entries(section).filter { sees(programmer: $0.tree["programmer"]?.text ?? "") }
                lost.formUnion(own.map(\.key).filter(foreign.contains))
            }
        }
        let requestors = Set(lost.filter { $0.section == .requestors }.map { OctetText($0.id) })
        if !requestors.isEmpty {
            for document in documents + [live] {
                lost.formUnion(document.entries(.integrations).map(\.key).filter { requestors.contains(OctetText($0.requestor)) })
            }
        }
        return Array(lost)
    }
}
