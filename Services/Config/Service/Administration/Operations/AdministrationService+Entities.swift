internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func listEntities(_ request: ListEntitiesRequest, context: CallContext) async throws -> EntityPage {
        let rights = try await rights(request.token, .read)
        _ = try Self.section(request.kind)
        let page = try Page(request.page)
        let view = try await publisher.read { [drafts] in try Self.view(for: rights, $0, drafts) }
        let found = EntityListing(request).matching(in: view, for: rights)
        let entities = page.slice(found).map { view.entity($0.key, $0.tree) }
        return EntityPage(entities: entities, total: UInt32(found.count), page: page.number, size: page.size)
    }

    public func getEntity(_ request: GetEntityRequest, context: CallContext) async throws -> CatalogueEntity {
        let rights = try await rights(request.token, .read)
        let key = EntityKey(try Self.section(request.kind), request.id)
        return try await publisher.read { [drafts] ledger in
            let view = try Self.view(for: rights, ledger, drafts)
            guard view.document[key] != nil, rights.sees(key, in: view.document) else { throw Fault.notFound(key.section.noun) }
            var entity = view.entity(key)
            if key.section == .integrations {
                let isLive = try !ledger.hasDraft(rights.name)
                let configuration =
                    try isLive
                    ? ledger.newestConfiguration() : DocumentCheck.configuration(of: view.document.around(integration: key), ledger, for: rights)
                entity.effectiveJson = EffectiveValues.json(key, in: configuration)
            }
            return entity
        }
    }

    /// What the administrator sees: the draft, or what is live.
    private static func view(for rights: Rights, _ ledger: CatalogueLedger, _ drafts: DraftMemory) throws -> EntityView {
        let live = try ledger.newestDocument()
        return EntityView(document: try ledger.keptDraft(of: rights, drafts)?.draft.document ?? live, live: live)
    }

    /// - Throws: `invalid_request`.
    static func section(_ kind: EntityKind) throws(Fault) -> CatalogueSection {
        guard let section = CatalogueSection(kind) else { throw Fault(.invalidRequest, "The kind of entry is not known.") }
        return section
    }
}
