internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func pushDraft(_ request: PushDraftRequest, context: CallContext) async throws -> PushOutcome {
        let rights = try await rights(request.token, .edit)
        let (isApprovalRequired, secrets) = (isApprovalRequired, request.secrets ?? SecretInventory())
        return try await push(rights) { ledger in
            guard Prose.isGood(request.description, 1...500), request.description.contains(where: { !$0.isWhitespace }) else {
                throw Refused.invalid("description", "must have 1 to 500 characters").fault
            }
            let draft = try ledger.draft(of: rights)
            guard !draft.changes.isEmpty else { throw Refused.invalid("", "has no changes to push").fault }
            try requireMatch(draft, request.ifMatch)
            let live = try ledger.newestDocument()
            guard rights.mayMakeAll(of: draft, in: live) else { throw Fault.insufficientRole }
            if isApprovalRequired {
                // The second person may be one who may name more.
                let problems = try ledger.secretRules(secrets, rights).problems(draft.changes, from: live, to: draft.document)
                if !problems.isEmpty { throw Refused.invalid(problems).fault }
                let proposal = try ledger.propose(draft, author: rights.name, description: request.description)
                try ledger.discardDraft(of: rights.name)
                return .pending(proposal.contract(for: rights))
            }
            let record = try ledger.push(draft, by: rights, author: rights.name, approver: "", description: request.description, secrets: secrets)
            try ledger.discardDraft(of: rights.name)
            return .version(record.contract(current: record.version, published: record.version))
        }
    }

    public func listPendingPushes(_ request: ListPendingPushesRequest, context: CallContext) async throws -> PendingPushes {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            let live = try ledger.newestDocument()
            let pushes = try ledger.proposedPushes().map { $0.narrowed(to: rights, in: live) }
            return PendingPushes(pushes: pushes.filter { rights.sees(record: ledger.programmers(of: $0.draft)) }.map { $0.contract(for: rights) })
        }
    }

    /// The author may take the push back, but somebody else approves it (dashboard #30). What has come to another programmer since it was proposed is not in it as
    /// its author had the right to change it, so that nobody approves it.
    public func decidePush(_ request: DecidePushRequest, context: CallContext) async throws -> PushOutcome {
        let rights = try await rights(request.token, .edit)
        let secrets = request.secrets ?? SecretInventory()
        return try await push(rights) { ledger in
            let live = try ledger.newestDocument()
            guard let proposal = try ledger.proposedPushes().first(where: { $0.id == request.id }),
                proposal.author == rights.name || rights.mayMakeAll(of: proposal.draft, in: live)
            else { throw Fault.notFound("push") }
            try ledger.removeProposal(proposal.id)
            guard request.approve else { return .declined(try decline(proposal, by: rights, live, ledger)) }
            guard proposal.author != rights.name else {
                throw Refused(.secondPersonRequired, "The author of a push cannot approve it.").fault
            }
            if let moved = proposal.draft.moved(in: live) {
                throw Refused(
                    .conflict, "The \(moved.section.noun) '\(moved.id)' came to another programmer after this was proposed; decline it."
                ).fault
            }
            let record = try ledger.push(
                proposal.draft, by: rights, author: proposal.author, approver: rights.name, description: proposal.description, secrets: secrets)
            return .version(record.contract(current: record.version, published: record.version))
        }
    }

    /// The changes go back to the author, who may have begun others meanwhile.
    private func decline(
        _ proposal: ProposedPush, by rights: Rights, _ live: CatalogueDocument, _ ledger: CatalogueLedger
    ) throws -> PendingPush {
        if try !ledger.hasDraft(proposal.author) { try ledger.keep(proposal.draft, of: proposal.author) }
        try ledger.record(
            .pushDeclined, by: rights.name, "Declined: \(proposal.description) (by \(proposal.author))",
            programmers: ledger.programmers(of: proposal.draft))
        return proposal.narrowed(to: rights, in: live).contract(for: rights)
    }

    private func push(
        _ rights: Rights, _ body: @escaping @Sendable (CatalogueLedger) throws -> PushOutcome.Outcome
    ) async throws -> PushOutcome {
        await publisher.rehearse(body)
        do {
            let outcome = try await publisher.change(body)
            if case .version(let version) = outcome {
                logger.info(
                    "catalogue.pushed",
                    metadata: ["version": "\(version.version)", "administrator": "\(rights.name)", "record": "\(version.recordSha256)"])
            }
            return PushOutcome(outcome: outcome)
        } catch {
            return PushOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
    }
}

extension Rights {
    /// Whether all of a draft's changes are the administrator's to make, by what the draft began with and by the newest version.
    func mayMakeAll(of draft: Draft, in live: CatalogueDocument) -> Bool {
        let changes = draft.changes
        let (newer, _) = CatalogueDocument.rebased(changes, from: draft.baseDocument, onto: live)
        return changes.allSatisfy { mayMake($0, from: draft.baseDocument, to: draft.document) && mayMake($0, from: live, to: newer) }
    }
}

extension Draft {
    /// An entry that it changes, and that came to another programmer since it was begun; `nil`: there is none.
    fileprivate func moved(in live: CatalogueDocument) -> EntityKey? {
        changes.map(\.key).first { key in
            switch live.owner(of: key) {
            case .programmer(""), .everyone, .operators: false
            case let owner: baseDocument[key] != nil && baseDocument.owner(of: key) != owner
            }
        }
    }
}
