@testable import CommandKit
import ContractRuntime
import Contracts
import Doubles
import Faults
import Testing

@Suite("Statements that `up` writes down")
struct SoftwareStatementTests {
    private let config = ConfigDouble()

    init() { config.getConfiguration.answer(with: Configuration(applications: ["acme-tv", "revoked", "bravo-tv"].map { Application(id: $0) })) }

    @Test("dashboard #14: an application whose statements are revoked has none, and the others have theirs")
    func revoked() async throws {
        config.issueSoftwareStatement.answer { request, _ in
            guard request.applicationID != "revoked" else { throw Fault(.unapprovedSoftwareStatement, "It is revoked.") }
            return SoftwareStatement(statement: "statement of \(request.applicationID)")
        }
        let issued = try await SoftwareStatements.issued(by: config)
        #expect(issued == ["acme-tv": "statement of acme-tv", "bravo-tv": "statement of bravo-tv"])
    }

    @Test("another refusal is not taken for a revocation", arguments: [Fault.Code.permissionDenied, .unavailable, .invalidRequest])
    func refused(_ code: Fault.Code) async throws {
        config.issueSoftwareStatement.fail(with: Fault(code, "no"))
        let fault = await #expect(throws: Fault.self) { try await SoftwareStatements.issued(by: config) }
        #expect(fault?.code == code)
    }
}
