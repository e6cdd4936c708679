internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults
internal import StrictJson

extension AdministrationService {
    /// At most so many versions and changes are in an answer.
    private static let most = 100

    public func importCatalogue(_ request: ImportCatalogueRequest, context: CallContext) async throws -> CatalogueImport {
        let rights = try await rights(request.token, .edit)
        guard rights.isOperator else { throw Fault.insufficientRole }
        do {
            if request.catalogue.isEmpty { return try await importOwnFile(isForced: request.force) }
            let document = try Self.document(request.catalogue)
            if isApprovalRequired { return try await propose(document, isForced: request.force, by: rights) }
            let keys = publisher.currentStatementKeys
            let take: @Sendable (CatalogueLedger) throws -> (ImportOutcome, CatalogueVersion) = { ledger in
                let configuration = try DocumentCheck.configuration(of: document, ledger)
                let outcome = try ledger.importCatalogue(
                    document, meaning: configuration, keys: keys, author: rights.name, reason: .asked(isForced: request.force))
                let newest = try ledger.requireNewest()
                return (outcome, newest.contract(current: newest.version, published: newest.version))
            }
            await publisher.rehearse(take)
            let (outcome, version) = try await publisher.write(take)
            publisher.tell(outcome.publication)
            if outcome.verdict == .refused { return Self.refused(outcome.pushed, outcome.changes) }
            if outcome.verdict == .taken {
                logger.info("catalogue.imported", metadata: ["version": "\(version.version)", "administrator": "\(rights.name)"])
            }
            return Self.answer(.version(version), isNew: outcome.verdict == .taken, outcome.pushed, outcome.changes)
        } catch let fault as Fault {
            return CatalogueImport(outcome: .refusal(try fault.refusalOrThrow()))
        }
    }

    private func importOwnFile(isForced: Bool) async throws -> CatalogueImport {
        guard !(isForced && isApprovalRequired) else {
            throw DocumentRejection(.secondPersonRequired, "Pushes need a second person here: import a file by its name, and it waits for one.").fault
        }
        let outcome: ImportOutcome
        do {
            guard let found = try await watcher?.importFile(isForced: isForced) else {
                throw Fault(.unimplemented, "This copy of the service has no catalogue file: name one.")
            }
            outcome = found
        } catch let refused as CatalogueRejection {
            throw DocumentRejection.invalid(refused.problems.prefix(Self.most).map { FieldProblem(field: $0.path, message: $0.message) }).fault
        }
        publisher.published.publish(outcome.publication)
        if outcome.verdict == .refused { return Self.refused(outcome.pushed, outcome.changes) }
        let version = try await publisher.read { ledger in
            let newest = try ledger.requireNewest()
            return newest.contract(current: newest.version, published: newest.version)
        }
        return Self.answer(.version(version), isNew: outcome.verdict == .taken, outcome.pushed, outcome.changes)
    }

    /// The whole catalogue as a push that a second person approves.
    private func propose(_ document: CatalogueDocument, isForced: Bool, by rights: Rights) async throws -> CatalogueImport {
        try await publisher.write { ledger in
            let newest = try ledger.requireNewest()
            let live = try ledger.document(newest.documentSHA256)
            let kept = document.keepingCallbacks(of: live)
            _ = try DocumentCheck.configuration(of: kept, ledger)
            let draft = Draft(base: newest, baseDocument: live, document: kept)
            let changes = draft.changes
            let pushed = try ledger.pushedVersions()
            guard !changes.isEmpty else {
                return Self.answer(.version(newest.contract(current: newest.version, published: newest.version)), isNew: false, [], [])
            }
            guard isForced || pushed.isEmpty else { return Self.refused(pushed, changes) }
            let proposal = try ledger.propose(draft, author: rights.name, description: "An imported catalogue")
            return Self.answer(.pending(proposal.contract(for: rights)), isNew: false, pushed, changes)
        }
    }

    private static func document(_ text: String) throws(Fault) -> CatalogueDocument {
        do {
            return try CatalogueDocument(parsing: Array(text.utf8))
        } catch {
            throw DocumentRejection.invalid("", EntityText.shortened("is no catalogue: \(error)")).fault
        }
    }

    private static func refused(_ pushed: [UInt64], _ changes: [PropertyChange]) -> CatalogueImport {
        let refusal = Refusal(
            reason: .conflict,
            message: "The catalogue would undo \(pushed.count == 1 ? "a version" : "\(pushed.count) versions") that administrators made.")
        return answer(.refusal(refusal), isNew: false, pushed, changes)
    }

    private static func answer(
        _ outcome: CatalogueImport.Outcome, isNew: Bool, _ pushed: [UInt64], _ changes: [PropertyChange]
    ) -> CatalogueImport {
        CatalogueImport(
            isNew: isNew, pushedVersions: Array(pushed.prefix(most)), changes: Array(changes.lines.prefix(most)), changeCount: UInt64(changes.count),
            outcome: outcome)
    }
}

extension AdministrationService {
    public func getDraft(_ request: GetDraftRequest, context: CallContext) async throws -> CatalogueDraft {
        let rights = try await rights(request.token, .edit)
        return try await publisher.read { [drafts] ledger in
            guard let kept = try ledger.keptDraft(of: rights, drafts) else {
                return CatalogueDraft(baseVersion: try ledger.requireNewest().version)
            }
            return drafts.contract(of: kept.draft, kept.key)
        }
    }

    public func discardDraft(_ request: DiscardDraftRequest, context: CallContext) async throws -> CatalogueDraft {
        let rights = try await rights(request.token, .edit)
        return try await publisher.write { ledger in
            try ledger.discardDraft(of: rights.name)
            return try ledger.draft(of: rights).contract
        }
    }

    public func dropChange(_ request: DropChangeRequest, context: CallContext) async throws -> DraftOutcome {
        let rights = try await rights(request.token, .edit)
        return try await redraft { ledger in
            var draft = try ledger.draft(of: rights)
            try requireMatch(draft, request.ifMatch)
            let changes = draft.changes
            guard request.number >= 1, request.number <= changes.count else { throw Fault.notFound("change") }
            draft.document.apply(changes[Int(request.number) - 1].reversed)
            _ = try DocumentCheck.configuration(of: draft.document, ledger, for: rights)
            try ledger.keep(draft, of: rights.name)
            return try ledger.draft(of: rights).contract
        }
    }

    /// Copies the part of the version that the administrator sees into the draft. The parts that belong to others, or are not theirs to write, stay
    /// as they are.
    public func restoreVersion(_ request: RestoreVersionRequest, context: CallContext) async throws -> DraftOutcome {
        let rights = try await rights(request.token, .edit)
        return try await redraft { ledger in
            guard try !ledger.hasDraft(rights.name) else {
                throw DocumentRejection(.preconditionFailed, "The draft has changes; push or dismiss them first.").fault
            }
            let record = try ledger.version(request.version)
            guard rights.sees(record: record.programmers) else { throw Fault.notFound("version") }
            var draft = try ledger.draft(of: rights)
            let wanted = try ledger.restorable(record, over: draft.document)
            draft.document.apply(draft.document.changes(to: wanted).filter { rights.mayMake($0, from: draft.document, to: wanted) })
            _ = try DocumentCheck.configuration(of: draft.document, ledger, for: rights)
            try ledger.keep(draft, of: rights.name)
            return draft.contract
        }
    }

    func redraft(_ body: @escaping @Sendable (CatalogueLedger) throws -> CatalogueDraft) async throws -> DraftOutcome {
        await publisher.rehearse(body)
        do {
            return DraftOutcome(outcome: .draft(try await publisher.write(body)))
        } catch {
            return DraftOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
    }

    /// - Parameter etag: Empty: not checked.
    func requireMatch(_ draft: Draft, _ etag: String) throws(Fault) {
        if !etag.isEmpty, etag != "*", etag != draft.etag { throw DocumentRejection(.preconditionFailed, "The draft is another one by now.").fault }
    }
}

extension Rights {
    /// True when a change of whole documents is the administrator's to make.
    func mayMake(_ change: PropertyChange, from old: CatalogueDocument, to new: CatalogueDocument) -> Bool {
        let isReplacement = old[change.key] != nil && new[change.key] != nil
        // An integration that is not there has an owner all the same: that of its requestor.
        let isOwn = [old, new].allSatisfy { $0[change.key] == nil ? !isForeign(change.key, in: $0) : sees(change.key, in: $0) }
        return mayWrite(change.key.section, isReplacement: isReplacement) && isOwn && mayBridge(old[change.key], new[change.key])
    }

    /// Only an operator may change what an upstream serves (bridge §3.1).
    func mayBridge(_ old: JsonTree?, _ new: JsonTree?) -> Bool { isOperator || new == nil || old?["upstream"] == new?["upstream"] }
}
