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
            let draft = try ledger.draft(of: rights.name)
            guard !draft.changes.isEmpty else { throw Refused.invalid("", "has no changes to push").fault }
            try requireMatch(draft, request.ifMatch)
            // A draft may be older than the rights of its author.
            guard rights.mayMakeAll(of: draft) else { throw Fault.insufficientRole }
            if isApprovalRequired {
                let proposal = try ledger.propose(draft, author: rights.name, description: request.description)
                try ledger.discardDraft(of: rights.name)
                return .pending(proposal.contract(for: rights))
            }
            let record = try ledger.push(draft, author: rights.name, approver: "", description: request.description, secrets: secrets)
            try ledger.discardDraft(of: rights.name)
            return .version(record.contract(current: record.version, published: record.version))
        }
    }

    public func listPendingPushes(_ request: ListPendingPushesRequest, context: CallContext) async throws -> PendingPushes {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            let seen = try ledger.proposedPushes().filter { rights.sees(record: ledger.programmers(of: $0.draft)) }
            return PendingPushes(pushes: seen.map { $0.contract(for: rights) })
        }
    }

    /// The author may take the push back, but somebody else approves it (dashboard #30).
    public func decidePush(_ request: DecidePushRequest, context: CallContext) async throws -> PushOutcome {
        let rights = try await rights(request.token, .edit)
        let secrets = request.secrets ?? SecretInventory()
        return try await push(rights) { ledger in
            guard let proposal = try ledger.proposedPushes().first(where: { $0.id == request.id }),
                proposal.author == rights.name || rights.mayMakeAll(of: proposal.draft)
            else { throw Fault.notFound("push") }
            try ledger.removeProposal(proposal.id)
            guard request.approve else { return .declined(try decline(proposal, by: rights, ledger)) }
            guard proposal.author != rights.name else {
                throw Refused(.secondPersonRequired, "The author of a push cannot approve it.").fault
            }
            let record = try ledger.push(
                proposal.draft, author: proposal.author, approver: rights.name, description: proposal.description, secrets: secrets)
            return .version(record.contract(current: record.version, published: record.version))
        }
    }

    /// The changes go back to the author, who may have begun others meanwhile.
    private func decline(_ proposal: ProposedPush, by rights: Rights, _ ledger: CatalogueLedger) throws -> PendingPush {
        if try !ledger.hasDraft(proposal.author) { try ledger.keep(proposal.draft, of: proposal.author) }
        try ledger.record(
            .pushDeclined, by: rights.name, "Declined: \(proposal.description) (by \(proposal.author))",
            programmers: ledger.programmers(of: proposal.draft))
        return proposal.contract(for: rights)
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
    func mayMakeAll(of draft: Draft) -> Bool {
        draft.changes.allSatisfy { mayMake($0, from: draft.baseDocument, to: draft.document) }
    }
}
