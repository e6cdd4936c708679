import Clocks
import ContractRuntime
import Contracts
import Foundation
import SamlExplanation
import SamlProfile
import SamlSigner
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The service's reports of sign-ins, for engineers.
struct SignInReportTests {
    private static func trace(_ number: Int) -> CallContext {
        CallContext(trace: TraceContext(traceHigh: 1, traceLow: UInt64(number), span: 1))
    }

    private func report(_ rig: Rig, _ context: CallContext) async throws -> SignInReport {
        try await rig.operations.getSignInReport(.init(traceID: context.trace.traceID), context: rig.context)
    }

    private func outcomes(_ report: SignInReport, _ steps: Int...) -> [SignInCheckOutcome] { steps.map { report.checks[$0 - 1].outcome } }

    @Test("mvpd #71: a sign-in and its repetition are both explained by their trace ids")
    func explainsBoth() async throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let rig = try Rig(saml: try EndToEndSamlTests.profile(), idpCertificate: provider.certificateDER)
        let (answer, _) = try await EndToEndSamlTests().pendingAnswer(rig, signedBy: provider)
        let (first, second) = (Self.trace(1), Self.trace(2))
        #expect(try await rig.service.completeSamlSignIn(answer, context: first).result == .signedIn)
        #expect(try await rig.service.completeSamlSignIn(answer, context: second).result == .rejected)
        let good = try await report(rig, first)
        #expect(good.result == .signedIn && good.mvpd == "DemoCable" && good.requestor == "CHAN7")
        #expect(outcomes(good, 1, 4, 16, 29, 31, 32) == [.passed, .passed, .passed, .passed, .passed, .passed])
        let repeated = try await report(rig, second)
        #expect(repeated.reason == "state.unknown" && outcomes(repeated, 4, 5) == [.failed, .notReached])
        #expect(repeated.checks[3].hint.contains("answered before"))
        let shown = "\(good) \(repeated)"
        #expect(!shown.contains("k3Yq-0091") && !shown.contains("house-7"))
        #expect(try await rig.operations.listSignInReports(.init(), context: rig.context).reports.count == 2)
        let failed = try await rig.operations.listSignInReports(.init(failedOnly: true), context: rig.context).reports
        #expect(failed.map(\.traceID) == [second.trace.traceID] && failed[0].checks.isEmpty)
    }

    @Test("mvpd #73, #74: what is wrong with RelayState or cookie is told to the engineer alone")
    func explainsState() async throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let rig = try Rig(saml: try EndToEndSamlTests.profile(), idpCertificate: provider.certificateDER)
        let (answer, _) = try await EndToEndSamlTests().pendingAnswer(rig, signedBy: provider)
        var cases: [(CompleteSamlSignInRequest, String)] = []
        var changed = answer
        changed.relayStatePresent = false
        cases.append((changed, "there was none"))
        changed = answer
        changed.relayState = "unknown"
        cases.append((changed, "not one of ours"))
        changed = answer
        changed.browserSecret = ""
        cases.append((changed, "no sign-in cookie"))
        changed = answer
        changed.browserSecret = "another"
        cases.append((changed, "another browser"))
        for (number, (request, words)) in cases.enumerated() {
            let context = Self.trace(16 + number)
            #expect(try await rig.service.completeSamlSignIn(request, context: context).result == .rejected)
            let found = try await report(rig, context)
            #expect(found.reason == "state.unknown" && found.checks[3].hint.contains(words), "\(found.checks[3])")
            #expect(found.mvpd == (number < 2 ? "" : "DemoCable") && found.requestor == (number < 2 ? "" : "CHAN7"))
        }
        var broken = answer
        broken.samlResponse = "%%%%"
        _ = try await rig.service.completeSamlSignIn(broken, context: Self.trace(99))
        let unreadable = try await report(rig, Self.trace(99))
        #expect(outcomes(unreadable, 2, 3, 4) == [.passed, .failed, .notReached])
        #expect(unreadable.mvpd == "DemoCable" && unreadable.requestor == "CHAN7", "RelayState knows whose sign-in it is")
        broken.relayState = "unknown"
        _ = try await rig.service.completeSamlSignIn(broken, context: Self.trace(98))
        let stray = try await report(rig, Self.trace(98))
        #expect(stray.mvpd.isEmpty && stray.requestor.isEmpty)
    }

    @Test("only the latest are remembered, and strays never push out the others")
    func bound() async throws {
        let reports = SignInReports(capacity: 4, strays: 2)
        func add(_ number: Int, mvpd: String) {
            let explanation = ResponseExplanation(SamlRejection(.unknownState, "no"), at: .pendingRequest, hint: "")
            reports.add(
                SignInRecord(
                    trace: "\(number)", endedAt: t0 + .seconds(number), mvpd: mvpd, result: .rejected, reason: "state.unknown",
                    explanation: explanation
                ))
        }
        for number in 1...6 { add(number, mvpd: "DemoCable") }
        for number in 7...100 { add(number, mvpd: "") }
        #expect(try await reports.list(.init()).reports.map(\.traceID) == ["100", "99", "6", "5", "4", "3"])
        #expect(try await reports.list(.init(mvpd: "DemoCable", limit: 1)).reports.map(\.traceID) == ["6"])
        await #expect(throws: (any Error).self) { try await reports.report(.init(traceID: "2")) }
    }

    @Test("a response in hand is explained without its sign-in, at the time that it names")
    func explainsHeldResponse() async throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let rig = try Rig(saml: try EndToEndSamlTests.profile(), idpCertificate: provider.certificateDER)
        func explain(_ change: (inout ResponseTemplate) -> Void = { _ in }, requestor: String = "", request: String = "") async throws -> SignInReport
        {
            var template = ResponseTemplate()
            change(&template)
            let encoded = Data(try template.signed(by: provider).utf8).base64EncodedString()
            let question = ExplainResponseRequest(samlResponse: encoded, mvpd: "DemoCable", requestor: requestor, requestID: request)
            return try await rig.operations.explainResponse(question, context: rig.context)
        }
        let good = try await explain()
        #expect(good.result == .signedIn && good.traceID.isEmpty)
        #expect(outcomes(good, 1, 4, 21, 31) == [.notChecked, .notChecked, .notChecked, .notChecked])
        #expect(good.checks[3].explanation == "not checked: no pending request")
        let suffixed = "\(ResponseTemplate.serviceProvider)/on-behalf-of/CHAN7"
        #expect(try await explain({ $0.assertion?.audiences = [[suffixed]] }).result == .signedIn)
        #expect(try await explain({ $0.assertion?.audiences = [[suffixed]] }, requestor: "CHAN7").result == .signedIn)
        let foreign = try await explain({ $0.assertion?.audiences = [["https://other.example"]] })
        #expect(foreign.reason == "audience" && foreign.checks[28].hint.contains("Audience names https://other.example"))
        #expect(try await explain(request: "_another").reason == "resp.request")
        #expect(try await explain(request: ResponseTemplate.requestID).checks[20].outcome == .passed)
        // Unknown, and without SAML.
        for mvpd in ["Nobody", "OpenFiber"] {
            await expectFault(.invalidRequest) {
                _ = try await rig.operations.explainResponse(.init(samlResponse: "AAAA", mvpd: mvpd), context: rig.context)
            }
        }
        #expect(
            try await rig.operations.explainResponse(.init(samlResponse: "!!!!", mvpd: "DemoCable"), context: rig.context).reason == "bind.base64")
        #expect(try await rig.operations.listSignInReports(.init(), context: rig.context).reports.isEmpty)
    }

    @Test("tools explain without a service what the service would say")
    func explainsOffline() throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let configuration = TestCatalogue.configuration(statementKeys: "", idpCertificate: provider.certificateDER)
        let explainer = try SamlExplainer(
            configuration: configuration, entityID: ResponseTemplate.serviceProvider,
            assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService, decryptionKey: nil)
        let encoded = Data(try ResponseTemplate().signed(by: provider).utf8).base64EncodedString()
        #expect(try explainer.explain(.init(samlResponse: encoded, mvpd: "DemoCable")).result == .signedIn)
    }
}
