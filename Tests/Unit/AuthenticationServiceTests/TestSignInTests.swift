import Clocks
import ContractRuntime
import Contracts
import Faults
import SamlProfile
import SamlSigner
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Sign-ins by a configuration that no version has.
@Suite struct TestSignInTests {
    /// The plan that `config` hands out: the MVPD as a draft has it.
    private func begin(_ rig: Rig, mvpd: String, _ change: (inout Mvpd) -> Void = { _ in }) async throws -> TestSignIn {
        var configuration = try rig.catalogue.current().configuration
        configuration.requestors.removeAll { $0.id != "CHAN7" }
        configuration.mvpds.removeAll { $0.id != mvpd }
        configuration.integrations.removeAll { $0.requestorID != "CHAN7" || $0.mvpdID != mvpd }
        (configuration.programmers, configuration.applications, configuration.statementKeys) = ([], [], "")
        change(&configuration.mvpds[0])
        let request = BeginTestSignInRequest(configuration: configuration, requestor: "CHAN7", mvpd: mvpd)
        return try await rig.operations.beginTestSignIn(request, context: rig.context)
    }

    private func open(_ rig: Rig, _ test: TestSignIn) async throws -> SignInStart {
        try await rig.service.openTestSignIn(OpenTestSignInRequest(ticket: test.ticket), context: rig.context)
    }

    private func answer(_ rig: Rig, _ start: SignInStart) -> CompleteSamlSignInRequest {
        Browser(start: start, relay: rig.saml.requests.last?.relay.text ?? "").answer
    }

    private func report(_ rig: Rig, _ test: TestSignIn) async throws -> SignInReport {
        try await rig.operations.getSignInReport(GetSignInReportRequest(traceID: test.id), context: rig.context)
    }

    private func sessions(_ rig: Rig) async throws -> [SessionRecord] {
        try await rig.store.sessions(SessionKey(device: DeviceID("dev-7f3a"), requestor: RequestorID("CHAN7")))
    }

    @Test("a test by SAML is checked and reported under its own id, and makes neither session nor usage", arguments: Backend.allCases)
    func testsSaml(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let test = try await begin(rig, mvpd: "DemoCable")
        let start = try await open(rig, test)
        #expect(!start.browserSecret.isEmpty && (1...600).contains(start.expiresInSeconds))
        rig.saml.accept(assertion: "_tested")
        let outcome = try await rig.finish(answer(rig, start))
        #expect(outcome.result == .tested && outcome.traceID == test.id && outcome.redirectURL.isEmpty)
        let report = try await report(rig, test)
        #expect(report.isTest && report.result == .signedIn && report.mvpd == "DemoCable" && report.requestor == "CHAN7")
        #expect(report.programmerID == (try rig.catalogue.current().requestor("CHAN7")?.programmerID))
        #expect(try await sessions(rig).isEmpty)
        // The assertion counted, and the request is used up.
        let again = try await rig.finish(answer(rig, start))
        #expect(again.result == .rejected && again.traceID != test.id)
        let (call, other) = (rig.call(try await rig.bearer()), try await begin(rig, mvpd: "DemoCable"))
        let next = try await open(rig, other)
        rig.saml.accept(assertion: "_tested")
        #expect(try await rig.finish(answer(rig, next)).result == .tested)
        #expect(try await self.report(rig, other).reason == "replay")
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test("its address opens one browser, once, for ten minutes", arguments: Backend.allCases)
    func opensOnce(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let test = try await begin(rig, mvpd: "DemoCable")
        _ = try await open(rig, test)
        await expectFault(.notFound) { _ = try await open(rig, test) }
        await expectFault(.notFound) { _ = try await rig.service.openTestSignIn(OpenTestSignInRequest(ticket: "?"), context: rig.context) }
        let late = try await begin(rig, mvpd: "DemoCable")
        rig.clock.advance(by: .seconds(601))
        await expectFault(.notFound) { _ = try await open(rig, late) }
    }

    @Test("an answer that comes too late, or from another browser, is none")
    func isTied() async throws {
        let rig = try Rig()
        let test = try await begin(rig, mvpd: "DemoCable")
        let start = try await open(rig, test)
        rig.saml.accept()
        var foreign = answer(rig, start)
        foreign.browserSecret = ""
        #expect(try await rig.finish(foreign).result == .tested)
        #expect(try await report(rig, test).reason == "state.unknown")
        var framed = answer(rig, start)
        framed.isEmbedded = true
        #expect(try await rig.finish(framed).result == .tested)
        rig.clock.advance(by: .seconds(601))
        #expect(try await rig.finish(answer(rig, start)).result == .rejected)
        #expect(try await report(rig, test).result == .rejected)
    }

    @Test("what the draft changed is what is checked, and a copy on the same store takes the answer")
    func usesDraft() async throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let rig = try Rig(.sqlite, saml: try EndToEndSamlTests.profile(), idpCertificate: provider.certificateDER)
        let test = try await begin(rig, mvpd: "DemoCable") { mvpd in
            guard case .saml(var endpoint) = mvpd.signIn else { return }
            endpoint.ssoURL = "https://new.idp.example/sso"
            mvpd.signIn = .saml(endpoint)
        }
        let start = try await rig.copy().openTestSignIn(OpenTestSignInRequest(ticket: test.ticket), context: rig.context)
        #expect(start.url.hasPrefix("https://new.idp.example/sso"))
        // The live MVPD is as it was.
        let code = try await rig.code(rig.call(try await rig.bearer()))
        #expect(try await !rig.service.startSignIn(Rig.startRequest(code.code), context: rig.context).url.hasPrefix("https://new.idp.example/"))
    }

    @Test("a test by OAuth asks the provider with the draft's client, and keeps no token")
    func testsOAuth() async throws {
        let rig = try Rig()
        let test = try await begin(rig, mvpd: "OpenFiber")
        let start = try await open(rig, test)
        let request = CompleteOAuthSignInRequest(
            state: ScriptedProvider.parameters(of: start.url)["state"] ?? "", code: rig.provider.authorize(start.url),
            browserSecret: start.browserSecret)
        #expect(try await rig.finish(request).result == .tested)
        let report = try await report(rig, test)
        #expect(report.isTest && report.result == .signedIn && report.checks.count == 19 && report.checks.allSatisfy { $0.outcome == .passed })
        #expect(try await sessions(rig).isEmpty)
        #expect(try await rig.finish(request).result == .rejected)
    }

    @Test("a provider that a draft has wrongly is told by the check that fails, and viewers' sign-ins go on")
    func reportsOAuth() async throws {
        let rig = try Rig()
        let test = try await begin(rig, mvpd: "OpenFiber") { mvpd in
            guard case .oauth(var endpoint) = mvpd.signIn else { return }
            endpoint.issuer = "https://another.example"
            mvpd.signIn = .oauth(endpoint)
        }
        let start = try await open(rig, test)
        let request = CompleteOAuthSignInRequest(
            state: ScriptedProvider.parameters(of: start.url)["state"] ?? "", code: rig.provider.authorize(start.url),
            browserSecret: start.browserSecret)
        #expect(try await rig.finish(request).result == .tested)
        let report = try await report(rig, test)
        #expect(report.result == .rejected && report.reason == "idtoken.issuer")
        try await rig.signInByOAuth()
    }

    @Test("a home network that is not recognised asks again, within the same test")
    func asksAfterAll() async throws {
        let rig = try Rig()
        let test = try await begin(rig, mvpd: "OpenFiber") { mvpd in
            guard case .oauth(var endpoint) = mvpd.signIn else { return }
            (endpoint.attemptHba, endpoint.forceAuthnParameter, endpoint.forceAuthnValue) = (true, "prompt", "none")
            mvpd.signIn = .oauth(endpoint)
        }
        let start = try await open(rig, test)
        let state = ScriptedProvider.parameters(of: start.url)["state"] ?? ""
        let outcome = try await rig.finish(
            CompleteOAuthSignInRequest(state: state, error: "login_required", browserSecret: start.browserSecret))
        let next = try #require(outcome.next)
        #expect(outcome.result == .continued)
        let request = CompleteOAuthSignInRequest(
            state: ScriptedProvider.parameters(of: next.url)["state"] ?? "", code: rig.provider.authorize(next.url),
            browserSecret: next.browserSecret)
        #expect(try await rig.finish(request).result == .tested)
        #expect(try await report(rig, test).result == .signedIn)
    }

    @Test("what cannot be tried is refused", arguments: ["Preview10", "Nobody"])
    func refuses(_ mvpd: String) async throws {
        let rig = try Rig()
        var configuration = try rig.catalogue.current().configuration
        configuration.statementKeys = ""
        let request = BeginTestSignInRequest(configuration: configuration, requestor: "CHAN7", mvpd: mvpd)
        await expectFault(mvpd == "Preview10" ? .unimplemented : .invalidRequest) {
            _ = try await rig.operations.beginTestSignIn(request, context: rig.context)
        }
    }

    @Test("not more than 64 wait at a time, and none of 65,536 octets or more", arguments: Backend.allCases)
    func isBounded(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        for _ in 0..<TestSignInRecord.most { _ = try await begin(rig, mvpd: "DemoCable") }
        await expectFault(.overloaded) { _ = try await begin(rig, mvpd: "DemoCable") }
        rig.clock.advance(by: .seconds(601))
        _ = try await begin(rig, mvpd: "DemoCable")
        await expectFault(.invalidRequest) {
            _ = try await begin(rig, mvpd: "DemoCable") { $0.displayName = String(repeating: "x", count: TestSignInRecord.largestConfiguration) }
        }
    }
}
