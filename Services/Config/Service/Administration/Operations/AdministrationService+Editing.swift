internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func createEntity(_ request: CreateEntityRequest, context: CallContext) async throws -> EntityOutcome {
        let (rights, section) = try await writer(request.token, request.kind, isReplacement: false)
        return try await edit {
            let (key, tree) = try EntityText.read(request.json, as: section)
            return { ledger in
                try DraftEditing(ledger: ledger, rights: rights, confirmedCertificates: request.confirmedCertificates).create(key, tree)
            }
        }
    }

    public func replaceEntity(_ request: ReplaceEntityRequest, context: CallContext) async throws -> EntityOutcome {
        let (rights, section) = try await writer(request.token, request.kind, isReplacement: true)
        return try await edit {
            let (_, tree) = try EntityText.read(request.json, as: section)
            return { ledger in
                try DraftEditing(ledger: ledger, rights: rights, confirmedCertificates: request.confirmedCertificates)
                    .replace(EntityKey(section, request.id), with: tree, ifMatch: request.ifMatch)
            }
        }
    }

    public func deleteEntity(_ request: DeleteEntityRequest, context: CallContext) async throws -> EntityOutcome {
        let (rights, section) = try await writer(request.token, request.kind, isReplacement: false)
        return try await edit {
            { try DraftEditing(ledger: $0, rights: rights).delete(EntityKey(section, request.id), ifMatch: request.ifMatch) }
        }
    }

    public func generateCustomScheme(_ request: GenerateCustomSchemeRequest, context: CallContext) async throws -> EntityOutcome {
        let (rights, section) = try await writer(request.token, request.kind, isReplacement: true)
        guard section == .programmers || section == .requestors else { throw Fault(.invalidRequest, "Only programmers and requestors have schemes.") }
        let scheme = CustomScheme.generate()
        return try await edit {
            { try DraftEditing(ledger: $0, rights: rights).addCustomScheme(scheme, to: EntityKey(section, request.id)) }
        }
    }

    func writer(_ token: String, _ kind: EntityKind, isReplacement: Bool) async throws(Fault) -> (Rights, CatalogueSection) {
        let rights = try await rights(token, .edit)
        let section = try Self.section(kind)
        guard rights.mayWrite(section, isReplacement: isReplacement) else { throw .insufficientRole }
        return (rights, section)
    }

    typealias Edit = @Sendable (CatalogueLedger) throws -> EntityChanged

    /// - Parameter prepare: Reads the request, outside of the transaction.
    func edit(_ prepare: () throws -> Edit) async throws -> EntityOutcome {
        do {
            let edit = try prepare()
            await publisher.rehearse(edit)
            return EntityOutcome(outcome: .changed(try await publisher.write(edit)))
        } catch let fault as Fault {
            return EntityOutcome(outcome: .refusal(try fault.refusalOrThrow()))
        }
    }
}
