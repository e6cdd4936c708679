internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Faults
internal import Logging
internal import SamlProfile

extension AdministrationService {
    public func pushDraft(_ request: PushDraftRequest, context: CallContext) async throws -> PushOutcome {
        let rights = try await rights(request.token, .edit)
        let (isApprovalRequired, secrets) = (isApprovalRequired, request.secrets ?? SecretInventory())
        return try await push(rights) { ledger in
            guard FreeText.isGood(request.description, 1...500), request.description.contains(where: { !$0.isWhitespace }) else {
                throw DocumentRejection.invalid("description", "must have 1 to 500 characters").fault
            }
            let draft = try ledger.draft(of: rights)
            guard !draft.changes.isEmpty else { throw DocumentRejection.invalid("", "has no changes to push").fault }
            try requireMatch(draft, request.ifMatch)
            let live = try ledger.newestDocument()
            guard rights.mayMakeAll(of: draft, in: live) else { throw Fault.insufficientRole }
            if isApprovalRequired {
                // The second person may be one who may name more.
                let problems = try ledger.secretRules(secrets, rights).problems(draft.changes, from: live, to: draft.document)
                if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
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

    /// The author may take the push back, but somebody else approves it (dashboard #30). It leaves out entries that have come to another programmer
    /// since it was proposed. The author's right to change them is over, so nobody approves them.
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
                throw DocumentRejection(.secondPersonRequired, "The author of a push cannot approve it.").fault
            }
            if let moved = proposal.draft.moved(in: live) {
                throw DocumentRejection(
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
    /// True when all of a draft's changes are the administrator's to make, by what the draft began with and by the newest version.
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

/// The lists that MVPD proxies keep by themselves (dashboard §4, #31).
extension AdministrationService {
    public func listProxiedMvpds(_ request: ListProxiedMvpdsRequest, context: CallContext) async throws -> ProxiedMvpds {
        _ = try await proxyRights(request.token, request.proxyMvpdID)
        return try await publisher.read { ledger in
            ProxiedMvpds(mvpds: try ledger.proxiedMvpds(behind: request.proxyMvpdID).map(ProxiedEntry.contract))
        }
    }

    public func replaceProxiedMvpds(_ request: ReplaceProxiedMvpdsRequest, context: CallContext) async throws -> ProxiedMvpdsOutcome {
        let rights = try await proxyRights(request.token, request.proxyMvpdID)
        let proxy = request.proxyMvpdID
        do {
            let mvpds = try ProxiedEntry.entries(of: request.document, behind: proxy)
            let replace: @Sendable (CatalogueLedger) throws -> ListReplacement = { ledger in
                try ledger.replaceProxiedMvpds(behind: proxy, with: mvpds, by: rights.name)
            }
            await publisher.rehearse(replace)
            let replacement = try await publisher.change(replace)
            tell(replacement, behind: proxy, by: rights.name)
            let version = replacement.version
            return ProxiedMvpdsOutcome(outcome: .version(version.contract(current: version.version, published: version.version)))
        } catch {
            return ProxiedMvpdsOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
    }

    /// - Throws: `access_denied`, or `insufficient_role`.
    private func proxyRights(_ token: String, _ proxy: String) async throws(Fault) -> Rights {
        let rights = try await rights(token, .listProxied)
        guard rights.mayList(behind: proxy) else { throw .insufficientRole }
        return rights
    }

    private func tell(_ replacement: ListReplacement, behind proxy: String, by author: String) {
        guard replacement.isNew else { return }
        let facts: Logger.Metadata = [
            "proxy": "\(proxy)", "version": "\(replacement.version.version)", "administrator": "\(author)", "removed": "\(replacement.removed)",
            "former": "\(replacement.former)",
        ]
        logger.info("catalogue.proxied_mvpds_replaced", metadata: facts)
        guard replacement.isAlarming else { return }
        Counter(label: "boxoffice_config_proxied_mvpds_dropped_total", dimensions: [("proxy", proxy)]).increment()
        logger.warning("catalogue.proxied_mvpds_dropped", metadata: facts)
    }
}

/// An MVPD of a proxy's list, as the catalogue has it and as contracts do.
enum ProxiedEntry {
    /// - Throws: A `DocumentRejection` as its cause, with the first problem.
    static func entries(of text: String, behind proxy: String) throws(Fault) -> [(key: EntityKey, tree: JsonTree)] {
        let list: ProxiedMvpdList
        do throws(ProxiedMvpdList.Rejection) {
            list = try ProxiedMvpdList(document: text)
        } catch {
            throw DocumentRejection.invalid(error.place, error.message).fault
        }
        var seen: Set<OctetText> = []
        var entries: [(key: EntityKey, tree: JsonTree)] = []
        for (index, record) in list.records.enumerated() {
            guard seen.insert(record.id).inserted else {
                throw DocumentRejection.invalid("proxiedMvpd[\(index)].id", "is '\(EntityText.shortened(record.id))', which is there twice").fault
            }
            entries.append((EntityKey(.mvpds, record.id), tree(record, behind: proxy)))
        }
        return entries
    }

    private static func tree(_ record: ProxiedMvpdList.Record, behind proxy: String) -> JsonTree {
        var reference: [String: JsonTree] = ["mvpd": .string(proxy), "listed": .bool(true)]
        if let provider = record.providerID { reference["providerId"] = .string(provider) }
        if !record.requestorIDs.isEmpty { reference["requestors"] = .array(record.requestorIDs.map { .string($0) }) }
        var members: [String: JsonTree] = ["id": .string(record.id), "displayName": .string(record.displayName), "proxy": .object(reference)]
        if !record.logoURL.isEmpty { members["logoUrl"] = .string(record.logoURL) }
        if let frame = record.frame {
            members["iframeRequired"] = .bool(true)
            members["iframeWidth"] = size(frame.width)
            members["iframeHeight"] = size(frame.height)
        }
        return .object(members)
    }

    /// A text that is no number stays a text, so that the rules of the catalogue name it.
    private static func size(_ text: String) -> JsonTree { UInt16(text).map { JsonTree.number("\($0)") } ?? .string(text) }

    static func contract(_ tree: JsonTree) -> ProxiedMvpd {
        ProxiedMvpd(
            id: tree["id"]?.text ?? "", displayName: tree["displayName"]?.text ?? "", logoURL: tree["logoUrl"]?.text ?? "",
            providerID: tree["proxy"]?["providerId"]?.text ?? "", iframeWidth: number(tree["iframeWidth"]),
            iframeHeight: number(tree["iframeHeight"]),
            requestorIDs: tree["proxy"]?["requestors"]?.texts ?? [])
    }

    private static func number(_ tree: JsonTree?) -> UInt32 { if case .number(let text) = tree { UInt32(text) ?? 0 } else { 0 } }
}
