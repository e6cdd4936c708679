import ContractConformance
import Testing

/// The requirements on MVPDs' answers tell a service that checks them from one that does not.
@Suite("A service that believes every MVPD's answer")
struct NaiveAuthenticationTests {
    @Test func failsWhereAnswersMustBeChecked() async throws {
        let (saml, oauth) = (38...43, [47, 48, 49, 50, 52])
        let checks = (Array(saml) + oauth).map { "AUTHN-\($0)" }
        let results = await (try await NaiveAuthentication()).examine(["AUTHN-37", "AUTHN-51"] + checks)
        for id in ["AUTHN-37", "AUTHN-51"] {
            let result = try #require(results[id])
            #expect(result.verdict == .passed, "\(id): \(result.expected ?? "") / \(result.came ?? "")")
        }
        for id in checks {
            let result = try #require(results[id])
            #expect(result.verdict == .failed, "\(id) must fail")
            #expect(result.expected?.isEmpty == false && result.came?.isEmpty == false)
        }
    }
}
