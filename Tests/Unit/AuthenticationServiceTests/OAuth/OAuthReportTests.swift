import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

@Suite struct OAuthReportTests {
    private func newest(_ rig: Rig) async throws -> SignInReport {
        let list = try await rig.operations.listSignInReports(ListSignInReportsRequest(), context: .init())
        let trace = try #require(list.reports.first?.traceID)
        return try await rig.operations.getSignInReport(GetSignInReportRequest(traceID: trace), context: .init())
    }

    @Test("a sign-in by OAuth is remembered check by check, and nothing personal of it")
    func succeeds() async throws {
        let rig = try Rig()
        _ = try await rig.signInByOAuth()
        let report = try await newest(rig)
        #expect(report.result == .signedIn && report.mvpd == "OpenFiber" && !report.requestor.isEmpty && report.reason.isEmpty)
        #expect(report.checks.count == 19 && report.checks.allSatisfy { $0.outcome == .passed } && report.facts.isEmpty)
    }

    @Test("what was refused names the check, and the setting that cures it")
    func fails() async throws {
        let rig = try Rig()
        rig.change { $0.issuer = "https://another.example" }
        _ = try await rig.finish(rig.answer(try await rig.visit()))
        let report = try await newest(rig)
        let failed = report.checks.filter { $0.outcome == .failed }
        #expect(report.result == .rejected && failed.map(\.reason) == [report.reason] && failed.first?.hint.contains("oauth.") == true)
        #expect(report.checks.prefix { $0.outcome == .passed }.count == Int(failed.first?.step ?? 0) - 1)
        #expect(report.checks.last?.outcome == .notReached)
    }

    @Test("each reason has a check of its own", arguments: OAuthRejection.Reason.allCases)
    func knowsEachReason(reason: OAuthRejection.Reason) {
        let checks = OAuthExplanation.checks(.failed(reason.rawValue), hasIdentityToken: true)
        #expect(checks.filter { $0.outcome == .failed }.map(\.reason) == [reason.rawValue])
    }

    @Test("who declines fails no check, and a provider without keys has no id_token to check")
    func declines() {
        let checks = OAuthExplanation.checks(.declined, hasIdentityToken: false)
        #expect(!checks.contains { $0.outcome == .failed } && checks.prefix(2).allSatisfy { $0.outcome == .passed })
        #expect(checks.filter { $0.outcome == .notNeeded }.count == 9)
    }
}
