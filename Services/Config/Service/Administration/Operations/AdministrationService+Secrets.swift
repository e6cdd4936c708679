internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults
internal import Storage

extension AdministrationService {
    /// Whose a reference is was settled by who wrote it first; what a version names, or a file has, stays (clients §2).
    public func authorizeSecret(_ request: AuthorizeSecretRequest, context: CallContext) async throws -> SecretOutcome {
        let rights = try await rights(request.token, .edit)
        guard CatalogueSyntax.isID(request.reference) else {
            throw Fault(.invalidRequest, "A reference has 1 to 128 letters, digits, '_' and '-'.")
        }
        let owner = try await owner(request, rights)
        do {
            try await publisher.write { ledger in
                if let known = request.known, known.isFile || known.programmerID != owner {
                    let holder = known.isFile ? try ledger.programmersOfFiles()[OctetText(known.reference)] ?? "" : known.programmerID
                    guard rights.isOperator || rights.administrator.programmerIDs.contains(holder) else { throw Fault.notFound("secret") }
                    guard !known.isFile else { throw Refused(.conflict, "A file has the reference, and is used in its place.").fault }
                    throw Refused(.conflict, "The reference is another programmer's; choose another one.").fault
                }
                guard try !ledger.hasEverNamed(secret: request.reference) else {
                    throw Refused(.conflict, "A version of the catalogue names the reference; write a new one, and push it.").fault
                }
                let programmers = owner.isEmpty ? [] : [owner]
                try ledger.record(.secretWritten, by: rights.name, "Secret written: \(request.reference)", programmers: programmers)
            }
            return SecretOutcome(outcome: .programmerID(owner))
        } catch {
            return SecretOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
    }

    public func listSecretOwners(_ request: ListSecretOwnersRequest, context: CallContext) async throws -> SecretOwners {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            SecretOwners(owners: try ledger.fileOwners().filter { rights.isOperator || rights.sees(programmer: $0.programmer) }.map(\.contract))
        }
    }

    public func setSecretOwner(_ request: SetSecretOwnerRequest, context: CallContext) async throws -> SecretOwners {
        let rights = try await rights(request.token, .edit)
        guard rights.isOperator else { throw Fault.insufficientRole }
        let isKeyFile = request.reference.utf8.count <= 128 && !request.reference.isEmpty && CatalogueSyntax.isFileName(request.reference)
        guard isKeyFile || CatalogueSyntax.isID(request.reference) else {
            throw Fault(.invalidRequest, "A reference has 1 to 128 letters, digits, '_', '-' and, of key files, '.'.")
        }
        let owners = try await publisher.write { ledger in
            let (reference, programmer) = (request.reference, request.programmerID)
            let isKnown = try programmer.isEmpty || ledger.newestDocument()[EntityKey(.programmers, programmer)] != nil
            guard isKnown else {
                throw Fault.notFound("programmer")
            }
            try ledger.settleFileOwners()
            try ledger.keep(FileOwner(reference: reference, programmer: programmer, isOpen: false))
            let whose = programmer.isEmpty ? "operators'" : "\(programmer)'s"
            try ledger.record(
                .secretOwnerSet, by: rights.name, "The secret file \(reference) is \(whose)", programmers: programmer.isEmpty ? [] : [programmer])
            return try ledger.fileOwners()
        }
        logger.info("catalogue.secret_owner_set", metadata: ["reference": "\(request.reference)", "administrator": "\(rights.name)"])
        return SecretOwners(owners: owners.map(\.contract))
    }

    private func owner(_ request: AuthorizeSecretRequest, _ rights: Rights) async throws -> String {
        if rights.isOperator {
            let key = EntityKey(.programmers, request.programmerID)
            if key.id.isEmpty { return "" }
            guard try await publisher.read({ try $0.newestDocument()[key] != nil }) else { throw Fault.notFound("programmer") }
            return key.id
        }
        let own = rights.administrator.programmerIDs
        if request.programmerID.isEmpty, let only = own.first, own.count == 1 { return only }
        guard !request.programmerID.isEmpty else { throw Fault(.invalidRequest, "Say which programmer's secret it is.") }
        guard own.contains(request.programmerID) else { throw Fault.notFound("programmer") }
        return request.programmerID
    }
}

extension CatalogueLedger {
    /// With the octets that a document has somewhere.
    private static let naming = Statement(
        sqlite: "SELECT 1 FROM document WHERE instr(content, ?) > 0 LIMIT 1",
        postgres: "SELECT 1 FROM document WHERE position(? IN content) > 0 LIMIT 1")

    /// Whether any version, the newest or an older one that may come back, names a secret.
    func hasEverNamed(secret reference: String) throws -> Bool {
        // Canonical JSON has no white space, and a reference nothing that is escaped.
        try CatalogueDocument.secretMembers.contains { name in
            try database.hasRow(Self.naming, [Array("\"\(name)\":\"\(reference)\"".utf8)])
        }
    }
}

extension FileOwner {
    fileprivate var contract: SecretOwner { SecretOwner(reference: reference, programmerID: programmer, isOpen: isOpen) }
}
