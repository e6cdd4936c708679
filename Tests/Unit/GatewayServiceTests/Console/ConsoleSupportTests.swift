internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsoleSupportTests {
    let console = ConsoleFixture(.editor)

    init() {
        console.gateway.administration.checkAdministrator.answer(with: Administrator(name: "ada", role: .editor))
        console.gateway.operations.findViewerSessions.answer(
            with: ViewerSessions(
                sessions: [
                    ViewerSession(
                        id: "s1", mvpd: ConsoleFixture.hostile, kind: .regular, authenticatedAtMilliseconds: 1_930_384_800_000,
                        devicePrefix: ConsoleFixture.accented)
                ], code: ViewerCode(createdAtMilliseconds: 1_930_384_800_000)))
        console.gateway.authorization.findRefusals.answer(
            with: SessionRefusals(
                refusals: [
                    SessionRefusal(
                        sessionID: "s1", code: "authorization_denied_by_degradation_rule", source: .degradation,
                        refusedAtMilliseconds: 1_930_388_400_000)
                ]))
        console.gateway.operations.endViewerSessions.answer(with: EndViewerSessionsResponse(ended: 1))
    }

    @Test("sessions are found by a form whose ids are in no address, and shown without markup of theirs")
    func finds() async throws {
        #expect(try await console.get("/support").text.contains("Find a viewer's sessions"))
        let page = try await console.post("/support", "requestor=ACME1&kind=code&viewer=ABCDEFG")
        #expect(page.status == 200 && page.text.contains("2031-03-04 10:00 UTC") && page.text.contains("sign-in at the MVPD"))
        #expect(page.text.contains("2031-03-04 11:00 UTC: A degradation rule of this cluster forbids it for now."))
        #expect(!page.text.contains(ConsoleFixture.hostile) && !page.text.contains("x\"\u{301}") && page.text.contains("not used yet"))
        #expect(
            console.gateway.operations.findViewerSessions.requests == [FindViewerSessionsRequest(requestor: "ACME1", viewer: .code("ABCDEFG"))])
    }

    @Test("nothing is looked for or ended before the form is complete and confirmed")
    func refuses() async throws {
        for fields in [
            "kind=code&viewer=A", "requestor=ACME1&kind=x&viewer=A", "requestor=ACME1&kind=code&viewer=", "requestor=ACME1&kind=user&viewer=u",
        ] {
            #expect(try await console.post("/support", fields).status == 422)
        }
        #expect(try await console.post("/support/end", "requestor=ACME1&kind=code&viewer=A&session=s1").status == 422)
        #expect(try await console.post("/support/end", "requestor=ACME1&kind=code&viewer=A&confirmed=1").status == 422)
        console.gateway.administration.checkAdministrator.fail(with: Fault(.notFound, "none"))
        #expect(try await console.post("/support", "requestor=BRAVO&kind=code&viewer=A").status == 422)
        #expect(console.gateway.operations.findViewerSessions.requests.isEmpty && console.gateway.operations.endViewerSessions.requests.isEmpty)
    }

    @Test("one session is ended or all, and the list follows")
    func ends() async throws {
        let page = try await console.post("/support/end", "requestor=ACME1&kind=device&viewer=dev-7f3a&session=s1&confirmed=1")
        #expect(page.status == 200 && page.text.contains("1 session ended"))
        _ = try await console.post("/support/end", "requestor=ACME1&kind=device&viewer=dev-7f3a&session=all&confirmed=1")
        #expect(console.gateway.operations.endViewerSessions.requests.map(\.sessionID) == ["s1", ""])
        #expect(console.gateway.administration.checkAdministrator.requests.first?.subject == "ends session s1… of device dev-…")
    }

    @Test("a viewer of the catalogue looks for nobody")
    func isForEditors() async throws {
        let page = try await ConsoleFixture(.viewer).get("/support")
        #expect(page.status == 200 && !page.text.contains("Find a viewer's sessions"))
    }
}
