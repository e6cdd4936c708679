internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults
internal import Tokens

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
