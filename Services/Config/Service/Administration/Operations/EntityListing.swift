internal import CatalogueFiles
internal import Contracts

/// The entries of a section that an administrator asks for.
struct EntityListing {
    private let section: CatalogueSection?
    private let query: String
    private let requestor: String
    private let mvpd: String
    private let changedOnly: Bool

    init(_ request: ListEntitiesRequest) {
        section = CatalogueSection(request.kind)
        query = request.query.lowercased()
        (requestor, mvpd, changedOnly) = (request.requestorID, request.mvpdID, request.changedOnly)
    }

    /// In the order of the document.
    ///
    /// A catalogue has tens of thousands of integrations, so whose a requestor is is looked up once for all of them.
    func matching(in view: EntityView, for rights: Rights) -> [CatalogueDocument.Entry] {
        guard let section else { return [] }
        let own = section == .integrations ? Self.requestors(of: rights, in: view.document) : nil
        let live = changedOnly ? Dictionary(view.live.entries(section).map { ($0.key, $0.tree) }) { first, _ in first } : [:]
        return view.document.entries(section).filter { entry in
            guard own?.contains(OctetText(entry.key.requestor)) ?? rights.sees(entry.key, in: view.document) else { return false }
            return isOfThese(entry) && (!changedOnly || live[entry.key] != entry.tree) && (query.isEmpty || isNamed(entry))
        }
    }

    /// - Returns: `nil`: all.
    private static func requestors(of rights: Rights, in document: CatalogueDocument) -> Set<OctetText>? {
        guard !rights.isOperator else { return nil }
        return Set(document.entries(.requestors).map(\.key).filter { rights.sees($0, in: document) }.map { OctetText($0.id) })
    }

    private func isOfThese(_ entry: CatalogueDocument.Entry) -> Bool {
        switch entry.key.section {
        case .integrations:
            (requestor.isEmpty || entry.key.requestor == requestor) && (mvpd.isEmpty || entry.key.mvpd == mvpd)
        case .applications: (requestor.isEmpty || entry.tree["requestors"]?.texts.contains(requestor) == true) && mvpd.isEmpty
        default: requestor.isEmpty && mvpd.isEmpty
        }
    }

    private func isNamed(_ entry: CatalogueDocument.Entry) -> Bool {
        ([entry.key.id] + ["name", "displayName"].compactMap { entry.tree[$0]?.text }).contains { $0.lowercased().contains(query) }
    }
}

/// An entry is shown to an administrator in this way.
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
