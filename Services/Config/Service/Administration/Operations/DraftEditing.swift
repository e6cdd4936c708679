internal import Catalogue
internal import CatalogueFiles
internal import Contracts
internal import Cryptography
internal import Faults
internal import Storage
internal import Synchronization

/// One change of one entry in an administrator's draft.
///
/// Nothing is stored before the whole document has been read and found good.
struct DraftEditing {
    let ledger: CatalogueLedger
    let rights: Rights
    /// SHA-256 of the certificates of an MVPD that the person pins although they are not valid now.
    var confirmedCertificates: [String] = []

    func create(_ key: EntityKey, _ tree: JsonTree) throws -> EntityChanged {
        var draft = try ledger.draft(of: rights)
        let isTaken = draft.document[key] != nil
        let former = draft.document
        draft.document[key] = tree
        // One that the draft deletes and makes again is the same to a push.
        if key.section == .mvpds { draft.document = draft.document.keepingCallbacks(of: draft.baseDocument) }
        try requireOwn(key, tree, in: draft.document)
        guard rights.mayBridge(nil, tree) else { throw Fault.insufficientRole }
        if isTaken { throw DocumentRejection(.duplicate, "There is a \(key.section.noun) '\(key.id)' already.", references: [key]).fault }
        return try keep(draft, key, former: former)
    }

    func replace(_ key: EntityKey, with tree: JsonTree, ifMatch: String) throws -> EntityChanged {
        var draft = try ledger.draft(of: rights)
        try requireMatch(key, in: draft.document, ifMatch: ifMatch)
        for (name, (old, new)) in zip(key.section.identity, zip(parts(of: key), parts(of: EntityKey(key.section, of: tree)))) where old != new {
            throw DocumentRejection.invalid(name, "must be '\(old)': an id cannot be changed").fault
        }
        let former = draft.document
        draft.document[key] = tree
        if key.section == .mvpds { draft.document = draft.document.keepingCallbacks(of: former) }
        try requireOwn(key, tree, in: draft.document)
        guard rights.mayBridge(former[key], tree) else { throw Fault.insufficientRole }
        return try keep(draft, key, former: former)
    }

    func delete(_ key: EntityKey, ifMatch: String) throws -> EntityChanged {
        var draft = try ledger.draft(of: rights)
        try requireMatch(key, in: draft.document, ifMatch: ifMatch)
        let references = draft.document.references(to: key)
        if !references.isEmpty {
            let seen = references.filter { rights.sees($0, in: draft.document) }
            let hidden = seen.count == references.count ? "" : " Operators see which."
            throw DocumentRejection(.referenced, "Others refer to the \(key.section.noun) '\(key.id)'.\(hidden)", references: seen).fault
        }
        draft.document[key] = nil
        try ledger.keep(draft, of: rights.name)
        return EntityChanged(entity: try view(of: draft).entity(key))
    }

    func addCustomScheme(_ scheme: String, to key: EntityKey) throws -> EntityChanged {
        var draft = try ledger.draft(of: rights)
        try requireMatch(key, in: draft.document, ifMatch: "*")
        let former = draft.document
        guard var tree = former[key] else { throw Fault.notFound(key.section.noun) }
        tree.set(["customSchemes"], to: .array((tree["customSchemes"]?.elements ?? []) + [.string(scheme)]))
        draft.document[key] = tree
        var changed = try keep(draft, key, former: former)
        changed.customScheme = scheme + "://"
        return changed
    }

    private func keep(_ draft: Draft, _ key: EntityKey, former: CatalogueDocument) throws -> EntityChanged {
        guard let tree = draft.document[key] else { throw Fault.notFound(key.section.noun) }
        try requireDistinctApplication(key, tree, in: draft.document)
        let (configuration, warnings) = try DocumentCheck.read(draft.document.concerned(by: key), ledger, edited: key, for: rights)
        let rules = EntityRules(
            key: key, tree: tree, configuration: configuration, former: former[key], now: ledger.now,
            confirmed: confirmedCertificates)
        let problems = rules.problems
        if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
        try ledger.keep(draft, of: rights.name)
        for confirmation in rules.confirmations { try ledger.record(.certificateConfirmed, by: rights.name, confirmation, programmers: []) }
        var entity = try view(of: draft).entity(key, tree)
        if key.section == .integrations { entity.effectiveJson = EffectiveValues.json(key, in: configuration) }
        return EntityChanged(entity: entity, warnings: warnings + rules.warnings)
    }

    private func view(of draft: Draft) throws -> EntityView { EntityView(document: draft.document, live: try ledger.newestDocument()) }

    private func parts(of key: EntityKey) -> [String] { key.section == .integrations ? [key.requestor, key.mvpd] : [key.id] }

    private func requireMatch(_ key: EntityKey, in document: CatalogueDocument, ifMatch: String) throws(Fault) {
        guard let tree = document[key], rights.sees(key, in: document) else { throw Fault.notFound(key.section.noun) }
        if ifMatch.isEmpty { throw DocumentRejection(.preconditionFailed, "The etag of the entry is required (If-Match).").fault }
        if ifMatch != "*", ifMatch != tree.sha256 { throw DocumentRejection(.preconditionFailed, "The entry is another one by now.").fault }
    }

    /// An administrator's changes stay with the programmers that are theirs; others count as absent.
    private func requireOwn(_ key: EntityKey, _ tree: JsonTree, in document: CatalogueDocument) throws(Fault) {
        if !rights.sees(key, in: document) {
            let field = key.section == .integrations ? "requestor" : "programmer"
            throw DocumentRejection.invalid(field, "names the \(field) '\(tree[field]?.text ?? "")', which is not in the catalogue").fault
        }
        guard key.section == .applications else { return }
        for (index, id) in (tree["requestors"]?.texts ?? []).enumerated() where !rights.sees(EntityKey(.requestors, id), in: document) {
            throw DocumentRejection.invalid("requestors[\(index)]", "names the requestor '\(id)', which is not in the catalogue").fault
        }
    }

    /// Name and version together name an application of a programmer (dashboard §2, #12).
    private func requireDistinctApplication(_ key: EntityKey, _ tree: JsonTree, in document: CatalogueDocument) throws(Fault) {
        guard key.section == .applications else { return }
        let twin = document.entries(.applications).first { entry in
            entry.key != key && ["programmer", "name", "version"].allSatisfy { entry.tree[$0] == tree[$0] }
        }
        guard let twin else { return }
        throw DocumentRejection(.duplicate, "Name and version are those of another application.", references: [twin.key]).fault
    }
}

/// Drafts as they were read last, by the digest of the stored content. Pages ask for a draft again and again, and a large one takes long to read and
/// to compare.
final class DraftMemory: Sendable {
    /// Drafts; as many administrators work at once.
    private static let most = 8

    /// The stored content of a draft.
    struct Key: Hashable {
        let base: UInt64
        let digest: [UInt8]
    }

    private struct Item {
        let key: Key
        let draft: Draft
        var contract: CatalogueDraft?
    }

    private let items = Mutex<[Item]>([])

    func draft(_ key: Key) -> Draft? { items.withLock { items in items.first { $0.key == key }?.draft } }

    func keep(_ draft: Draft, _ key: Key) {
        items.withLock { items in
            items.removeAll { $0.key == key }
            items.insert(Item(key: key, draft: draft), at: 0)
            if items.count > Self.most { items.removeLast() }
        }
    }

    /// With what it changes, which is compared once.
    func contract(of draft: Draft, _ key: Key) -> CatalogueDraft {
        // Other administrators' later changes are not part of the stored content.
        guard draft.lost.isEmpty else { return draft.contract }
        if let known = items.withLock({ items in items.first { $0.key == key }?.contract }) { return known }
        let contract = draft.contract
        items.withLock { items in
            guard let index = items.firstIndex(where: { $0.key == key }) else { return }
            items[index].contract = contract
        }
        return contract
    }
}

extension CatalogueLedger {
    /// The administrator's draft, for reading, without what is not theirs any more: one that was read before is not read again.
    /// - Returns: `nil`: there is none.
    func keptDraft(of rights: Rights, _ memory: DraftMemory) throws -> (draft: Draft, key: DraftMemory.Key)? {
        guard let (draft, key) = try storedDraft(of: rights.name, memory) else { return nil }
        return (draft.narrowed(to: rights, in: try newestDocument()), key)
    }

    private func storedDraft(of author: String, _ memory: DraftMemory) throws -> (draft: Draft, key: DraftMemory.Key)? {
        let kept = try database.first("SELECT base_version, content FROM draft WHERE author = ?", [author]) {
            (base: UInt64($0.next() as Int64), content: $0.next() as [UInt8])
        }
        guard let kept else { return nil }
        let key = DraftMemory.Key(base: kept.base, digest: SHA256.hash(kept.content))
        if let known = memory.draft(key) { return (known, key) }
        let draft = try draft(on: kept.base, kept.content)
        memory.keep(draft, key)
        return (draft, key)
    }
}

/// The effective values of an integration's properties, platform by platform, and the source of each value (dashboard §3).
enum EffectiveValues {
    static let scopes: [PlatformScope] = [.all, .desktop, .mobile, .ios, .android, .tv, .tvos, .roku, .fireTv, .unidentified]

    /// `{"roku": {"authnTtl": {"value": 604800, "source": "integration:roku", "mandatory": false}, …}, …}`; empty for an unknown integration.
    static func json(_ key: EntityKey, in configuration: Configuration) -> String {
        // A whole catalogue is indexed for many questions; this is one.
        let (requestorID, mvpdID) = (key.requestor, key.mvpd)
        guard let integration = configuration.integrations.first(where: { $0.requestorID == requestorID && $0.mvpdID == mvpdID }),
            let mvpd = configuration.mvpds.first(where: { $0.id == mvpdID })
        else { return "" }
        let members = scopes.map { scope in (scope.name, properties(Catalogue.effective(integration, mvpd, scope: scope))) }
        return JsonTree.object(Dictionary(uniqueKeysWithValues: members)).canonical
    }

    private static func properties(_ properties: [EffectiveProperty]) -> JsonTree {
        let members = properties.map { property in
            let tree: JsonTree = .object([
                "value": value(property.value), "source": .string("\(property.source)"), "mandatory": .bool(property.isMandatory),
            ])
            return (property.name, tree)
        }
        return .object(Dictionary(uniqueKeysWithValues: members))
    }

    private static func value(_ value: EffectiveProperty.Value) -> JsonTree {
        switch value {
        case .number(let number): .number("\(number)")
        case .flag(let flag): .bool(flag)
        case .text(let text): .string(text)
        }
    }
}
