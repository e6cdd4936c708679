internal import Catalogue
internal import CatalogueFiles
internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults
public import Logging
public import OutboundHttp
internal import StrictJson
internal import Tokens

/// The operations of `boxoffice.config.v1.Administration`.
public struct AdministrationService: Administration {
    let publisher: CataloguePublisher
    let administratorRegistry: AdministratorRegistry
    let statements: StatementSigner
    let isApprovalRequired: Bool
    /// Certificate names that may open sessions for people who signed in elsewhere.
    let sessionCallers: Set<String>
    let logger: Logger
    let watcher: CatalogueFileWatcher?
    let fetch: DocumentFetch?
    let drafts = DraftMemory()

    /// - Parameters:
    ///   - isApprovalRequired: True when a push waits for a second person (dashboard §4).
    ///   - sessionCallers: Certificate names that may open sessions for people who signed in at an identity provider; empty: nobody has such a
    ///     session.
    ///   - watcher: The importer of the catalogue file, which administrators may have taken in again; `nil`: there is none.
    ///   - fetch: Gets MVPDs' metadata from where they publish it; `nil`: nothing is fetched.
    public init(
        publisher: CataloguePublisher, administratorRegistry: AdministratorRegistry, statements: StatementSigner, isApprovalRequired: Bool,
        logger: Logger,
        sessionCallers: Set<String> = [], watcher: CatalogueFileWatcher? = nil, fetch: DocumentFetch? = nil
    ) {
        self.publisher = publisher
        self.administratorRegistry = administratorRegistry
        self.statements = statements
        self.isApprovalRequired = isApprovalRequired
        self.logger = logger
        self.sessionCallers = sessionCallers
        self.watcher = watcher
        self.fetch = fetch
    }

    public func register(in registry: inout some MethodRegistry) { AdministrationMethods.register(self, in: &registry) }

    /// - Throws: `access_denied`, or `insufficient_role`.
    func rights(_ token: String, _ action: Rights.Action) async throws(Fault) -> Rights {
        let rights = Rights(administrator: try await administrator(token))
        try rights.require(action)
        return rights
    }

    public func getAdministrator(_ request: GetAdministratorRequest, context: CallContext) async throws -> Administrator {
        try await administrator(request.token)
    }
}

extension Fault {
    /// The refusal that the fault carries; any other fault is thrown on.
    func refusalOrThrow() throws(Fault) -> Refusal {
        guard let refusal else { throw self }
        return refusal
    }
}

extension AdministrationService {
    public func listStatementKeys(_ request: ListStatementKeysRequest, context: CallContext) async throws -> StatementKeyList {
        _ = try await rights(request.token, .revokeStatement)
        return StatementKeyList(keys: try await publisher.read { try $0.statementKeys().map(\.contract) })
    }

    public func retireStatementKey(_ request: RetireStatementKeyRequest, context: CallContext) async throws -> StatementKeyList {
        let rights = try await rights(request.token, .revokeStatement)
        let keys = try await publisher.change { ledger in
            try ledger.retireStatementKey(request.keyID)
            try ledger.record(.statementKeyRetired, by: rights.name, "Key of software statements \(request.keyID) taken out", programmers: [])
            return try ledger.statementKeys()
        }
        logger.info("catalogue.statement_key_retired", metadata: ["key": "\(request.keyID)", "administrator": "\(rights.name)"])
        return StatementKeyList(keys: keys.map(\.contract))
    }
}

extension PublishedKey {
    fileprivate var contract: StatementKey {
        StatementKey(
            id: name, publishedSinceMilliseconds: UInt64(clamping: since.milliseconds),
            retiredAtMilliseconds: UInt64(clamping: retiredAt?.milliseconds ?? 0))
    }
}

extension AdministrationService {
    public func listAuditRecords(_ request: ListAuditRecordsRequest, context: CallContext) async throws -> AuditPage {
        let rights = try await rights(request.token, .read)
        let page = try Page(request.page)
        let (entries, total) = try await publisher.read { try $0.auditEntries(for: rights, page) }
        return AuditPage(records: entries.map(\.contract), total: UInt32(clamping: total), page: page.number, size: page.size)
    }

    public func verifyHistory(_ request: VerifyHistoryRequest, context: CallContext) async throws -> HistoryVerdict {
        _ = try await rights(request.token, .verifyHistory)
        return try await publisher.read { try $0.verdict(readingDocuments: true) }
    }

    /// Removes audit records whose time is over, once an hour, until the task is cancelled.
    /// - Parameter days: How long they are kept.
    public func forgetAudit(after days: Int) async {
        repeat { _ = try? await forgetAuditOnce(after: days) } while (try? await Task.sleep(for: .seconds(3600))) != nil
    }

    /// One round of that.
    /// - Returns: The number of removed records.
    /// - Throws: Faults of the store.
    @discardableResult
    public func forgetAuditOnce(after days: Int) async throws -> Int {
        let removed = try await publisher.write { try $0.forgetAudit(before: $0.now - .seconds(days * 86_400)) }
        if removed > 0 { logger.notice("audit.forgotten", metadata: ["records": "\(removed)"]) }
        return removed
    }
}

extension AdministrationService {
    public func getReport(_ request: GetReportRequest, context: CallContext) async throws -> CatalogueReport {
        let rights = try await rights(request.token, .read)
        switch request.kind {
        case .authnTtl, .authzTtl, .sso: break
        case .unknown, .unrecognized: throw Fault(.invalidRequest, "The report is not known.")
        }
        // Another copy may have pushed a moment ago.
        let catalogue = Catalogue(try await publisher.read { try $0.newestConfiguration() })
        for id in request.requestorIDs {
            guard let requestor = catalogue.requestor(id), rights.sees(programmer: requestor.programmerID) else { throw Fault.notFound("requestor") }
        }
        for id in request.mvpdIDs where catalogue.mvpd(id) == nil { throw Fault.notFound("MVPD") }
        let builder = ReportBuilder(kind: request.kind)
        let rows = integrations(request, rights, catalogue).map { builder.row($0, $1) }
        return CatalogueReport(columns: ReportBuilder.columns.map(\.key), rows: rows)
    }

    private func integrations(_ request: GetReportRequest, _ rights: Rights, _ catalogue: Catalogue) -> [(Integration, Mvpd)] {
        let requestors = Set(request.requestorIDs)
        let mvpds = Set(request.mvpdIDs)
        return catalogue.configuration.integrations.compactMap { integration in
            guard requestors.isEmpty || requestors.contains(integration.requestorID), mvpds.isEmpty || mvpds.contains(integration.mvpdID),
                let requestor = catalogue.requestor(integration.requestorID), rights.sees(programmer: requestor.programmerID),
                let mvpd = catalogue.mvpd(integration.mvpdID)
            else { return nil }
            return (integration, mvpd)
        }
    }
}

extension AdministrationService {
    public func listVersions(_ request: ListVersionsRequest, context: CallContext) async throws -> VersionPage {
        let rights = try await rights(request.token, .read)
        let page = try Page(request.page)
        let (all, published) = try await publisher.read { (try $0.versions(), try $0.publishedVersion()) }
        let versions = all.filter { rights.sees(record: $0.programmers) }
        let current = all.first?.version ?? 0
        return VersionPage(
            versions: page.slice(versions).map { $0.contract(current: current, published: published) }, total: UInt32(versions.count),
            page: page.number, size: page.size)
    }

    public func getVersion(_ request: GetVersionRequest, context: CallContext) async throws -> VersionSnapshot {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            let (record, document) = try visible(request.version, rights, ledger)
            let (current, published) = (try ledger.requireNewest().version, try ledger.publishedVersion())
            return VersionSnapshot(
                version: record.contract(current: current, published: published), documentJson: rights.visible(document).tree.canonical)
        }
    }

    public func compareVersions(_ request: CompareVersionsRequest, context: CallContext) async throws -> VersionComparison {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            let (_, old) = try visible(request.oldVersion, rights, ledger)
            let (_, new) = try visible(request.newVersion, rights, ledger)
            let changes = rights.visible(old).changes(to: rights.visible(new))
            return VersionComparison(oldVersion: request.oldVersion, newVersion: request.newVersion, changes: changes.lines)
        }
    }

    private func visible(_ version: UInt64, _ rights: Rights, _ ledger: CatalogueLedger) throws -> (VersionRecord, CatalogueDocument) {
        let record = try ledger.version(version)
        guard rights.sees(record: record.programmers) else { throw Fault.notFound("version") }
        return (record, try ledger.document(record.documentSHA256))
    }
}

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

    /// The document that the administrator sees: the draft, or the live one.
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

extension AdministrationService {
    /// Makes the differences that the administrator may write the draft; the other cluster is asked for nothing.
    public func promoteCatalogue(_ request: PromoteCatalogueRequest, context: CallContext) async throws -> DraftOutcome {
        let rights = try await rights(request.token, .edit)
        let promotion = Promotion(keepsEndpoints: request.keepEndpoints, keepsOthers: request.keepOthers)
        let other: CatalogueDocument
        do throws(Fault) {
            other = try Self.exported(request.catalogue)
        } catch {
            return DraftOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
        return try await redraft { ledger in
            guard try !ledger.hasDraft(rights.name) else {
                throw DocumentRejection(.preconditionFailed, "The draft has changes; push or dismiss them first.").fault
            }
            var draft = try ledger.draft(of: rights)
            let changes = promotion.changes(from: draft.document, to: other).filter { rights.mayMake($0, from: draft.document, to: other) }
            draft.document.apply(changes)
            draft.document = draft.document.keepingCallbacks(of: draft.baseDocument)
            _ = try DocumentCheck.configuration(of: draft.document, ledger, for: rights)
            try ledger.keep(draft, of: rights.name)
            return draft.contract
        }
    }

    /// - Parameter text: A catalogue as JSON, or a version of one as the administration API answers it.
    /// - Throws: A `DocumentRejection` as its cause.
    private static func exported(_ text: String) throws(Fault) -> CatalogueDocument {
        let tree: JsonTree
        do throws(JsonSyntaxError) {
            tree = JsonTree(try JsonDocument(parsing: Array(text.utf8)).root)
        } catch {
            throw DocumentRejection.invalid("catalogue", EntityText.shortened("is no JSON: \(error)")).fault
        }
        let whole = tree["requestors"] == nil ? tree["document"] ?? tree : tree
        for section in CatalogueSection.allCases where section.isMandatory {
            guard case .array = whole[section.rawValue] else {
                throw DocumentRejection.invalid("catalogue", "is no exported catalogue: it has no list '\(section.rawValue)'").fault
            }
        }
        return CatalogueDocument(whole)
    }
}
