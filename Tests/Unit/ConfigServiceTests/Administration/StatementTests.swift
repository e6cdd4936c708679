import ConfigService
import ContractRuntime
import Contracts
import Faults
import Testing
import Tokens

@Suite("Software statements under administration", .eachEngine)
struct StatementTests {
    private func download(_ admin: AdministrationWorld, as who: AdministrationWorld.Who = .ed) async throws -> Contracts.SoftwareStatement {
        let request = DownloadSoftwareStatementRequest(token: who.token, applicationID: "news-tv")
        return try await admin.service.downloadSoftwareStatement(request, context: CallContext())
    }

    private func softwareIDs(_ admin: AdministrationWorld) -> [String] {
        admin.published.configuration.applications.first { $0.id == "news-tv" }?.softwareIDs ?? []
    }

    @Test("dashboard #13: a downloaded statement verifies with the published key, is in force, and is recorded")
    func downloads() async throws {
        let admin = try await AdministrationWorld()
        let statement = try await download(admin)
        let verified = try SoftwareStatementVerifier(keySet: JSONWebKeySet(json: admin.published.configuration.statementKeys)).verify(
            statement.statement)
        #expect(verified.softwareID == statement.softwareID && verified.applicationID == "news-tv")
        #expect(softwareIDs(admin) == [statement.softwareID])
        #expect(try await download(admin).softwareID == statement.softwareID)
        #expect(try await admin.audit(.vic).map(\.action) == ["statement_downloaded", "statement_downloaded", "import"])
        #expect(try await code { try await download(admin, as: .rita) } == .notFound)
    }

    @Test("dashboard #14: a revocation takes every statement of the application at once; the next one has a new id")
    func revokes() async throws {
        let admin = try await AdministrationWorld()
        let first = try await download(admin)
        let version = admin.published.configuration.version
        let request = RevokeSoftwareStatementsRequest(token: AdministrationWorld.Who.olga.token, applicationID: "news-tv")
        let revoked = try await admin.service.revokeSoftwareStatements(request, context: CallContext())
        #expect(revoked.revokedSoftwareIDs == [first.softwareID])
        #expect(softwareIDs(admin).isEmpty)
        #expect(admin.published.configuration.version > version)
        #expect(try await admin.service.revokeSoftwareStatements(request, context: CallContext()).revokedSoftwareIDs.isEmpty)
        await admin.store.close()
        let again = try await AdministrationWorld(admin.world)
        #expect(softwareIDs(again).isEmpty)
        let second = try await download(again)
        #expect(second.softwareID != first.softwareID)
        #expect(softwareIDs(again) == [second.softwareID])
        #expect(try await again.audit().filter { $0.action == "statements_revoked" }.count == 1)
    }
}
