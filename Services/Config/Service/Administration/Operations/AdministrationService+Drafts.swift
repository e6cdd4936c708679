internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults

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

    /// What the administrator sees of the version becomes the draft; what belongs to others, or is not theirs to write, stays as it is.
    public func restoreVersion(_ request: RestoreVersionRequest, context: CallContext) async throws -> DraftOutcome {
        let rights = try await rights(request.token, .edit)
        return try await redraft { ledger in
            guard try !ledger.hasDraft(rights.name) else {
                throw Refused(.preconditionFailed, "The draft has changes; push or dismiss them first.").fault
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
        if !etag.isEmpty, etag != "*", etag != draft.etag { throw Refused(.preconditionFailed, "The draft is another one by now.").fault }
    }
}

extension Rights {
    /// Whether a change of whole documents is the administrator's to make.
    func mayMake(_ change: PropertyChange, from old: CatalogueDocument, to new: CatalogueDocument) -> Bool {
        let isReplacement = old[change.key] != nil && new[change.key] != nil
        // An integration that is not there has an owner all the same: that of its requestor.
        let isOwn = [old, new].allSatisfy { $0[change.key] == nil ? !isForeign(change.key, in: $0) : sees(change.key, in: $0) }
        return mayWrite(change.key.section, isReplacement: isReplacement) && isOwn && mayBridge(old[change.key], new[change.key])
    }

    /// What an upstream serves is an operator's to say (bridge §3.1).
    func mayBridge(_ old: JsonTree?, _ new: JsonTree?) -> Bool { isOperator || new == nil || old?["upstream"] == new?["upstream"] }
}
