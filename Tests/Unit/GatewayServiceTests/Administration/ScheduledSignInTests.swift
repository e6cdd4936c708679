internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// How test users fared: on home, in the API, and for whoever plays their browser.
@Suite struct ScheduledSignInTests {
    private static let failed = ScheduledSignInState(
        mvpd: "NorthCable", requestor: "ACME1", traceID: "4bf9", endedAtMilliseconds: 1_930_384_900_000, failedStep: "login", reason: "login_refused",
        explanation: "The MVPD says '\(ConsoleFixture.hostile)'.", steps: [ScheduledSignInStep(name: "start", durationMilliseconds: 7)], failures: 4,
        failingSinceMilliseconds: 1_930_384_800_000)
    private static let good = ScheduledSignInState(
        mvpd: "LakeTel", requestor: "ACME1", traceID: "5cf9", endedAtMilliseconds: 1_930_384_900_000,
        steps: [ScheduledSignInStep(name: "start", durationMilliseconds: 7), ScheduledSignInStep(name: "page", durationMilliseconds: 9)])
    private static let foreign = ScheduledSignInState(mvpd: "OpenFiber", requestor: "BRAVO")

    @Test("home says which test user fails, at which step, why and since when; of channels that the person may see")
    func home() async throws {
        let console = ConsoleFixture()
        #expect(try await !console.get("").text.contains("Test users"), "nobody can say")
        console.gateway.operations.listScheduledSignIns.answer(with: ScheduledSignIns(signIns: [Self.good, Self.failed, Self.foreign]))
        let page = try await console.get("")
        #expect(page.text.contains("1 of 2 test sign-ins on a schedule succeeded, the latest at 2031-03-04 10:01 UTC"))
        #expect(!page.text.contains("login_refused") && page.text.contains(">the login at the MVPD</td>"))
        #expect(page.text.contains("The MVPD says") && page.text.contains("2031-03-04 10:00 UTC"))
        #expect(!page.text.contains(ConsoleFixture.hostile) && !page.text.contains("OpenFiber"))
        console.gateway.operations.listScheduledSignIns.answer(with: ScheduledSignIns(signIns: [Self.good]))
        #expect(try await console.get("").text.contains(#"<p class="message good">1 of 1"#))
        console.gateway.operations.listScheduledSignIns.answer(with: ScheduledSignIns())
        #expect(try await !console.get("").text.contains("Test users"))
    }

    @Test("the API tells each step with its time; who is bound to programmers sees those of their requestors")
    func api() async throws {
        let gateway = TestGateway()
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "olga", role: .operator))
        gateway.operations.listScheduledSignIns.answer(with: ScheduledSignIns(signIns: [Self.failed, Self.foreign]))
        let reply = try await gateway.administer(.get, "/scheduled-sign-ins")
        #expect(
            reply.text
                == #"{"scheduledSignIns":[{"mvpd":"NorthCable","requestor":"ACME1","result":"failed","trace":"4bf9","endedAt":1930384900000,"failedStep":"login","#
                + #""reason":"login_refused","explanation":"The MVPD says '<script>alert(1)</script>'.","steps":[{"name":"start","milliseconds":7}],"#
                + #""failures":4,"failingSince":1930384800000},{"mvpd":"OpenFiber","requestor":"BRAVO","result":"waiting","trace":null,"endedAt":0,"#
                + #""failedStep":null,"reason":null,"explanation":null,"steps":[],"failures":0,"failingSince":0}]}"#)
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "vera", role: .viewer, programmerIDs: ["acme"]))
        let bound = try await gateway.administer(.get, "/scheduled-sign-ins")
        #expect((bound.json["scheduledSignIns"] as? [[String: Any]])?.count == 1)
        gateway.operations.listScheduledSignIns.fail(with: Fault(.unimplemented, "an older release"))
        #expect(try await gateway.administer(.get, "/scheduled-sign-ins").status == 501)
    }

    @Test("whoever plays the browser is told result and reason, of an MVPD's words letters and a few signs; nobody else is")
    func verdict() async throws {
        let gateway = TestGateway()
        func told(_ verdict: ScheduledSignInVerdict?) async throws -> String? {
            gateway.authentication.completeSamlSignIn.answer(with: SignInOutcome(result: .tested, traceID: "4bf9", verdict: verdict))
            let reply = try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: "SAMLResponse=PHNhbWw%2B&RelayState=r", [:])
            #expect(reply.status == 200)
            return reply.headers[.testResult]
        }
        #expect(try await told(nil) == nil)
        #expect(try await told(ScheduledSignInVerdict(result: .signedIn)) == "signedIn")
        #expect(try await told(ScheduledSignInVerdict(result: .rejected, reason: "sig.invalid")) == "rejected sig.invalid")
        #expect(try await told(ScheduledSignInVerdict(result: .declined, reason: "urn:x\r\nSet-Cookie: a=b é")) == "declined urn:xSet-Cookie:ab")
        let long = try #require(try await told(ScheduledSignInVerdict(result: .silent, reason: String(repeating: "x", count: 500))))
        #expect(long.utf8.count == "declined ".utf8.count + 64)
    }
}
