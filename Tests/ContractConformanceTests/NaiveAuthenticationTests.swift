import ContractConformance
import Testing

/// The requirements on MVPDs' answers tell a service that checks them from one that does not.
@Suite("A service that believes every MVPD's answer")
struct NaiveAuthenticationTests {
    @Test func failsWhereAnswersMustBeChecked() async throws {
        let checks = ["AUTHN-38", "AUTHN-39", "AUTHN-40", "AUTHN-41", "AUTHN-42", "AUTHN-43"]
        let results = await (try await NaiveAuthentication()).examine(["AUTHN-37"] + checks)
        let signIn = try #require(results["AUTHN-37"])
        #expect(signIn.verdict == .passed, "\(signIn.expected ?? "") / \(signIn.came ?? "")")
        for id in checks {
            let result = try #require(results[id])
            #expect(result.verdict == .failed, "\(id) must fail")
            #expect(result.expected?.isEmpty == false && result.came?.isEmpty == false)
        }
    }
}
