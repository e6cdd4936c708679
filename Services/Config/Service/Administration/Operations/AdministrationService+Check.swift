internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults
internal import Tokens

extension AdministrationService {
    public func checkAdministrator(_ request: CheckAdministratorRequest, context: CallContext) async throws -> Administrator {
        switch request.permission {
        case .read: try await checkReader(request)
        case .resetTempPass: try await checkReset(request)
        case .revokeClient: try await checkRevocation(request)
        case .support: try await checkSupport(request)
        case .personalData: try await checkPersonalData(request)
        case .upstream: try await checkUpstream(request)
        case .unknown, .unrecognized: throw Fault(.invalidRequest, "The permission is not known.")
        }
    }

    private func checkReader(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .read)
        guard !request.requestorID.isEmpty else { return rights.administrator }
        let document = try await publisher.read { try $0.newestDocument() }
        let key = EntityKey(.requestors, request.requestorID)
        guard document[key] != nil, rights.sees(key, in: document) else { throw Fault.notFound("requestor") }
        return rights.administrator
    }

    /// A foreign requestor is forbidden here, not unknown (dashboard #34).
    private func checkReset(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .resetTempPass)
        guard !request.requestorID.isEmpty, !request.mvpdID.isEmpty else { throw Fault(.invalidRequest, "Requestor and MVPD are required.") }
        let subject = try subject(request)
        try await publisher.write { ledger in
            let document = try ledger.newestDocument()
            let requestor = EntityKey(.requestors, request.requestorID)
            guard rights.sees(requestor, in: document) else { throw Fault.insufficientRole }
            guard document[EntityKey(.integrations, "\(request.requestorID)/\(request.mvpdID)")] != nil else { throw Fault.notFound("integration") }
            guard document[EntityKey(.mvpds, request.mvpdID)]?["tempPass"] != nil else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
            let programmer = document[requestor]?["programmer"]?.text ?? ""
            try ledger.record(
                .tempPassReset, by: rights.name, "TempPass \(request.mvpdID) reset for \(request.requestorID): \(subject)", programmers: [programmer])
        }
        return rights.administrator
    }

    private func checkRevocation(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .revokeClient)
        let subject = try subject(request)
        guard !subject.isEmpty else { throw Fault(.invalidRequest, "The subject is required.") }
        try await publisher.write { try $0.record(.clientRevoked, by: rights.name, "Client revoked: \(subject)", programmers: []) }
        return rights.administrator
    }

    /// Looking at viewers takes more than reading. A foreign requestor does not exist here.
    private func checkSupport(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .support)
        let subject = try subject(request)
        let key = EntityKey(.requestors, request.requestorID)
        @Sendable func require(in document: CatalogueDocument) throws(Fault) {
            guard document[key] != nil, rights.sees(key, in: document) else { throw Fault.notFound("requestor") }
        }
        guard !subject.isEmpty else {
            try require(in: try await publisher.read { try $0.newestDocument() })
            return rights.administrator
        }
        try await publisher.write { ledger in
            let document = try ledger.newestDocument()
            try require(in: document)
            let programmer = document[key]?["programmer"]?.text ?? ""
            try ledger.record(.viewerSupport, by: rights.name, "Support at \(request.requestorID): \(subject)", programmers: [programmer])
        }
        return rights.administrator
    }

    /// Recorded before anything is told or erased; the subject never names the person.
    private func checkPersonalData(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .handlePersonalData)
        let subject = try subject(request)
        guard !subject.isEmpty else { return rights.administrator }
        try await publisher.write { try $0.record(.personalData, by: rights.name, "Personal data: \(subject)", programmers: []) }
        return rights.administrator
    }

    private func checkUpstream(_ request: CheckAdministratorRequest) async throws -> Administrator {
        let rights = try await rights(request.token, .upstream)
        let subject = try subject(request)
        if !subject.isEmpty {
            try await publisher.write { try $0.record(.upstreamOperated, by: rights.name, "Upstream: \(subject)", programmers: []) }
        }
        return rights.administrator
    }

    private func subject(_ request: CheckAdministratorRequest) throws(Fault) -> String {
        guard FreeText.isGood(request.subject, 0...200) else {
            throw Fault(.invalidRequest, "The subject must have at most 200 characters, and no control characters.")
        }
        return request.subject
    }
}

extension AdministrationService {
    /// After a revocation the next statement has a new id (dashboard #13, #14).
    public func downloadSoftwareStatement(
        _ request: DownloadSoftwareStatementRequest, context: CallContext
    ) async throws -> Contracts.SoftwareStatement {
        let rights = try await rights(request.token, .downloadStatement)
        let (softwareID, name) = try await publisher.change { ledger in
            let (key, name, programmer) = try application(request.applicationID, rights, ledger)
            let softwareID = try ledger.softwareIDs(of: key.id).last ?? ledger.newSoftwareID(of: key.id)
            try ledger.record(
                .statementDownloaded, by: rights.name, "Software statement \(softwareID) of \(key.id) downloaded", programmers: [programmer])
            return (softwareID, name)
        }
        let content = Tokens.SoftwareStatement(softwareID: softwareID, applicationID: request.applicationID, applicationName: name)
        return Contracts.SoftwareStatement(statement: try await statements.issue(content), softwareID: softwareID)
    }

    public func revokeSoftwareStatements(
        _ request: RevokeSoftwareStatementsRequest, context: CallContext
    ) async throws -> RevokeSoftwareStatementsResponse {
        let rights = try await rights(request.token, .revokeStatement)
        let revoked = try await publisher.change { ledger in
            let (key, _, programmer) = try application(request.applicationID, rights, ledger)
            let revoked = try ledger.revokeSoftwareIDs(of: key.id)
            guard !revoked.isEmpty else { return revoked }
            try ledger.record(
                .statementsRevoked, by: rights.name, "Software statements of \(key.id) revoked: \(revoked.joined(separator: ", "))",
                programmers: [programmer])
            return revoked
        }
        logger.info("catalogue.statements_revoked", metadata: ["application": "\(request.applicationID)", "administrator": "\(rights.name)"])
        return RevokeSoftwareStatementsResponse(revokedSoftwareIDs: revoked)
    }

    /// An application that is live, whatever drafts say.
    private func application(
        _ id: String, _ rights: Rights, _ ledger: CatalogueLedger
    ) throws -> (key: EntityKey, name: String, programmer: String) {
        let document = try ledger.newestDocument()
        let key = EntityKey(.applications, id)
        guard let tree = document[key], rights.sees(key, in: document) else { throw Fault.notFound(key.section.noun) }
        return (key, tree["name"]?.text ?? "", tree["programmer"]?.text ?? "")
    }
}

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
