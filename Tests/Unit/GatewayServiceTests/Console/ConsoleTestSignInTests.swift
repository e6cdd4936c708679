internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Test sign-ins by a draft: pages, API and the address that opens one.
@Suite struct ConsoleTestSignInTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"

    let console = ConsoleFixture()

    init() {
        console.gateway.administration.getDraft.answer(with: ConsoleFixture.draft)
        console.gateway.administration.listEntities.answer(
            with: EntityPage(entities: [ConsoleFixture.integration()], total: 1, page: 1, size: 200))
        console.gateway.administration.prepareTestSignIn.answer(
            with: TestSignInPreparation(outcome: .plan(TestSignInPlan(configuration: Configuration(version: 1), draftEtag: "d1"))))
        console.gateway.operations.beginTestSignIn.answer(with: TestSignIn(id: Self.id, ticket: "t1cket", expiresAtMilliseconds: 9))
        console.gateway.operations.getSignInReport.fail(with: Fault(.notFound, "none"))
    }

    private func report(_ result: SignInResult) -> SignInReport {
        SignInReport(
            traceID: Self.id, endedAtMilliseconds: 5, requestor: "NEW", mvpd: "NorthCable", result: result,
            reason: result == .signedIn ? "" : "saml.audience", isTest: true, programmerID: "acme")
    }

    @Test("the page asks for which channel, and the test begins with what the draft has")
    func begins() async throws {
        let page = try await console.get("/test-sign-in?mvpd=NorthCable&requestor=ACME1")
        #expect(page.status == 200 && page.text.contains(#"<option value="ACME1" selected>"#))
        let reply = try await console.post("/test-sign-in", "mvpd=NorthCable&requestor=ACME1")
        #expect(reply.location == "/console/test-sign-in/\(Self.id)?mvpd=NorthCable&requestor=ACME1&ticket=t1cket&etag=d1")
        let request = try #require(console.gateway.administration.prepareTestSignIn.requests.last)
        #expect(request.requestorID == "ACME1" && request.mvpdID == "NorthCable" && request.secrets?.knowledge == .told)
        #expect(console.gateway.operations.beginTestSignIn.requests.last?.configuration?.version == 1)
    }

    @Test("what config refuses is told at the form")
    func tellsRefusals() async throws {
        let refusal = Refusal(
            reason: .invalid, message: "One thing is wrong.", problems: [FieldProblem(field: "mvpds/X", message: "names the secret 'x'")])
        console.gateway.administration.prepareTestSignIn.answer(with: TestSignInPreparation(outcome: .refusal(refusal)))
        let reply = try await console.post("/test-sign-in", "mvpd=NorthCable&requestor=ACME1")
        #expect(reply.status == 422 && reply.text.contains("names the secret &#39;x&#39;") || reply.text.contains("names the secret 'x'"))
        #expect(console.gateway.operations.beginTestSignIn.requests.isEmpty)
    }

    @Test("the page waits with the address that opens the test, at the public origin, and looks again by itself")
    func waits() async throws {
        let page = try await console.get("/test-sign-in/\(Self.id)?mvpd=NorthCable&requestor=ACME1&ticket=t1cket&etag=d1")
        let origin = console.gateway.settings.publicOrigin
        #expect(page.text.contains(#"href="\#(origin)/test-sign-in/t1cket" target="_blank""#) && page.headers[.refresh] == "3")
        let paused = try await console.get("/test-sign-in/\(Self.id)?mvpd=NorthCable&ticket=t1cket&paused=1")
        #expect(paused.headers[.refresh] == nil && paused.text.contains("Look again"))
    }

    @Test("what passed can be pushed from there, as long as the draft is what was tested")
    func pushes() async throws {
        console.gateway.operations.getSignInReport.answer(with: report(.signedIn))
        let page = try await console.get("/test-sign-in/\(Self.id)?mvpd=NorthCable&requestor=ACME1&etag=d1")
        #expect(page.text.contains("Every check passed") && page.text.contains(#"name="etag" value="d1""#) && page.headers[.refresh] == nil)
        #expect(page.text.contains("test: would sign in"))
        let other = try await console.get("/test-sign-in/\(Self.id)?mvpd=NorthCable&requestor=ACME1&etag=old")
        #expect(other.text.contains("has changed since") && !other.text.contains(#"action="/console/draft/push""#))
        console.gateway.operations.getSignInReport.answer(with: report(.rejected))
        let failed = try await console.get("/test-sign-in/\(Self.id)?mvpd=NorthCable&requestor=ACME1&etag=d1")
        #expect(failed.text.contains("Test again") && !failed.text.contains(#"action="/console/draft/push""#))
    }

    @Test("a test is its programmer's, whatever the catalogue knows of the channel, and no trouble of the MVPD")
    func isNoTrouble() async throws {
        var foreign = report(.rejected)
        foreign.programmerID = "bravo"
        console.gateway.operations.listSignInReports.answer(with: SignInReports(reports: [report(.rejected), foreign]))
        let list = try await console.get("/sign-ins")
        #expect(list.text.components(separatedBy: "test: failed").count == 2)
        #expect(try await console.get("").text.contains("NorthCable") == false)
        console.gateway.operations.getSignInReport.answer(with: foreign)
        #expect(try await console.get("/sign-ins/\(Self.id)").status == 404)
    }

    @Test("the API begins one too")
    func answersTheApi() async throws {
        let gateway = console.gateway
        gateway.administration.getAdministrator.answer(with: Administrator(name: "ada", role: .operator))
        let reply = try await gateway.administer(.post, "/draft/test-sign-ins", #"{"requestor":"ACME1","mvpd":"NorthCable"}"#)
        let origin = gateway.settings.publicOrigin
        #expect(reply.status == 201 && reply.location == "/admin/v1/sign-ins/\(Self.id)")
        #expect(reply.text == #"{"id":"\#(Self.id)","address":"\#(origin)/test-sign-in/t1cket","expiresAt":9,"draftEtag":"d1"}"#)
        #expect(gateway.administration.prepareTestSignIn.requests.last?.token == "admin")
        #expect(try await gateway.administer(.post, "/draft/test-sign-ins", #"{"mvpd":"NorthCable"}"#).status == 422)
        gateway.operations.beginTestSignIn.fail(with: Fault(.unimplemented, "none"))
        #expect(try await gateway.administer(.post, "/draft/test-sign-ins", #"{"requestor":"A","mvpd":"B"}"#).status == 501)
        gateway.administration.prepareTestSignIn.fail(with: Fault(.notFound, "none"))
        #expect(try await gateway.administer(.post, "/draft/test-sign-ins", #"{"requestor":"A","mvpd":"B"}"#).status == 404)
    }

    @Test("its address sends the browser to the MVPD with a cookie, once; its answer ends at a neutral page")
    func opens() async throws {
        let gateway = console.gateway
        gateway.authentication.openTestSignIn.answer(
            with: SignInStart(url: "https://idp.example/sso?RelayState=abc", browserSecret: "s3cret", expiresInSeconds: 60))
        let opened = try await gateway.get("/test-sign-in/t1cket", [:])
        #expect(opened.status == 302 && opened.location == "https://idp.example/sso?RelayState=abc")
        #expect(opened.headers[.setCookie]?.contains("signin-abc=s3cret; Max-Age=60") == true)
        #expect(gateway.authentication.openTestSignIn.requests.map(\.ticket) == ["t1cket"])
        gateway.authentication.openTestSignIn.fail(with: Fault(.notFound, "none"))
        let again = try await gateway.get("/test-sign-in/t1cket", [:])
        #expect(again.status == 404 && again.text.contains("cannot be opened"))
        gateway.authentication.completeSamlSignIn.answer(with: SignInOutcome(result: .tested, traceID: Self.id))
        let ended = try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: "SAMLResponse=PFJl&RelayState=abc", [:])
        #expect(ended.status == 200 && ended.text.contains("Nobody was signed in") && ended.text.contains(Self.id))
    }
}
