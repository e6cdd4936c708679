internal import Contracts
internal import Faults
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsoleOperationTests {
    let console = ConsoleFixture(.operator)

    private static func report(_ trace: String, _ mvpd: String, _ result: SignInResult, at moment: UInt64) -> SignInReport {
        SignInReport(
            traceID: trace, endedAtMilliseconds: moment, requestor: "ACME1", mvpd: mvpd, result: result,
            reason: result == .rejected ? "audience" : "")
    }

    @Test("home names the MVPDs that fail now and since when, and leads to the explanation and to a degradation")
    func tellsTrouble() async throws {
        let reports = [
            Self.report("t4", "NorthCable", .rejected, at: 1_930_384_920_000), Self.report("t3", "LakeTel", .signedIn, at: 1_930_384_900_000),
            Self.report("t2", "NorthCable", .rejected, at: 1_930_384_800_000), Self.report("t5", "OpenFiber", .declined, at: 1_930_384_700_000),
            Self.report("t1", "NorthCable", .signedIn, at: 1_930_384_000_000), Self.report("t0", "LakeTel", .rejected, at: 1_930_384_000_000),
        ]
        console.gateway.operations.listSignInReports.answer(with: SignInReports(reports: reports))
        let page = try await console.get("")
        #expect(page.text.contains("2031-03-04 10:00 UTC") && page.text.contains("/console/sign-ins/t4"))
        #expect(page.text.contains("/console/degradation/new?mvpd=NorthCable"))
        #expect(page.text.contains("The assertion is for another service provider than us.") && !page.text.contains(">audience<"))
        #expect(page.text.contains(#"href="/console/sign-ins?mvpd=NorthCable&amp;failed=1""#))
        #expect(!page.text.contains("/console/mvpds/LakeTel") && !page.text.contains("/console/mvpds/OpenFiber"))
        let troubles = MvpdTrouble.found(in: reports)
        #expect(troubles.map(\.mvpd) == ["NorthCable"] && troubles.first?.failures == 2)
    }

    @Test("home is there while authentication is away, and says so")
    func survivesAuthentication() async throws {
        console.gateway.operations.listSignInReports.fail(with: Fault(.unavailable, "away"))
        let page = try await console.get("")
        #expect(page.status == 200 && page.text.contains("does not answer"))
        console.gateway.operations.listSignInReports.answer(with: SignInReports())
        let well = try await console.get("").text
        #expect(well.contains("No MVPD fails.") && well.contains(#"href="/console/sign-ins?failed=1""#))
    }

    @Test("home tells an operator how upstreams are, those that fail first; nobody else, and nothing where nobody can say")
    func tellsUpstreams() async throws {
        let alarm = UpstreamAlarm(
            event: "bridge.statement_refused", atMilliseconds: 1_930_384_800_000, count: 2, details: ConsoleFixture.hostile)
        let states = [
            UpstreamState(upstream: "quiet"), UpstreamState(upstream: "alarmed", openLogouts: 7, alarms: [alarm]),
            UpstreamState(upstream: "broken", openBreakers: ["session", "decision"]),
        ]
        console.gateway.operations.listUpstreamStates.answer(with: UpstreamStates(states: states))
        let page = try await console.get("")
        let names = page.text.matches(of: /data-label="Upstream"><bdi>(\w+)</).map { String($0.1) }
        #expect(names == ["broken", "alarmed", "quiet"])
        #expect(
            page.text.contains("session, decision") && page.text.contains("It refuses our software statement.")
                && page.text.contains("2031-03-04 10:00 UTC"))
        #expect(!page.text.contains("bridge."), "sentences, no codes")
        #expect(page.text.contains(">7</td>") && !page.text.contains(ConsoleFixture.hostile))
        let editor = ConsoleFixture(.editor)
        editor.gateway.operations.listUpstreamStates.answer(with: UpstreamStates(states: states))
        #expect(try await !editor.get("").text.contains("broken"))
        console.gateway.operations.listUpstreamStates.fail(with: Fault(.unavailable, "away"))
        let without = try await console.get("")
        #expect(without.status == 200 && !without.text.contains(#"id="upstreams""#))
    }

    @Test("a channel and its integrations tell whether their upstream works; an MVPD's list says who signs people in")
    func tellsTheirUpstream() async throws {
        let channel = CatalogueEntity(
            kind: .requestor, id: "ACME1", json: #"{"id":"ACME1","name":"Acme","upstream":{"upstream":"vendor"}}"#, etag: "e")
        let integration = CatalogueEntity(
            kind: .integration, id: "ACME1/CoastCable", json: #"{"requestor":"ACME1","mvpd":"CoastCable","upstream":true}"#, etag: "e")
        console.gateway.administration.getEntity.answer { request, _ in request.kind == .requestor ? channel : integration }
        func told(_ path: String, _ state: UpstreamState) async throws -> String {
            console.gateway.operations.listUpstreamStates.answer(with: UpstreamStates(states: [state]))
            return try await console.get(path).text
        }
        let (works, fails) = (UpstreamState(upstream: "vendor"), UpstreamState(upstream: "vendor", openBreakers: ["list"]))
        for path in ["/channels/ACME1", "/integrations/ACME1/CoastCable"] {
            #expect(try await told(path, works).contains("<bdi>vendor</bdi></a> works"), "\(path)")
            #expect(try await told(path, fails).contains("<bdi>vendor</bdi></a> fails"), "\(path)")
        }
        #expect(console.gateway.operations.listUpstreamStates.requests.last?.upstream == "vendor")
        console.gateway.operations.listUpstreamStates.fail(with: Fault(.unavailable, "away"))
        let without = try await console.get("/channels/ACME1")
        #expect(without.status == 200 && !without.text.contains("<bdi>vendor</bdi>"))
        console.gateway.administration.listEntities.answer(
            with: EntityPage(
                entities: [CatalogueEntity(kind: .mvpd, id: "CoastCable", json: #"{"id":"CoastCable","upstreamOnly":true}"#, etag: "e")], total: 1,
                page: 1, size: 50))
        #expect(try await console.get("/mvpds").text.contains("by an upstream"))
    }

    @Test("a failed sign-in is explained check by check, with all that failed")
    func explains() async throws {
        var report = Self.report("4bf9", "NorthCable", .rejected, at: 5)
        report.checks = [
            SignInCheck(step: 1, title: "one", outcome: .passed),
            SignInCheck(step: 29, title: "we are the audience", outcome: .failed, reason: "audience", explanation: "no <b>", hint: "Audience \"X\""),
            SignInCheck(step: 30, title: "later", outcome: .notReached),
        ]
        report.facts = [SignInFact(name: "status", value: ConsoleFixture.hostile)]
        console.gateway.operations.getSignInReport.answer(with: report)
        let page = try await console.get("/sign-ins/4bf9")
        #expect(
            page.text.contains("Check 29: we are the audience") && page.text.contains("Audience &quot;X&quot;") && page.text.contains("not checked"))
        #expect(page.text.contains("/console/mvpds/NorthCable") && !page.text.contains(ConsoleFixture.hostile))
        #expect(page.text.contains("&lt;script&gt;alert(1)"), "what the provider said is shown, as text")
        console.gateway.operations.listSignInReports.answer(with: SignInReports(reports: [report]))
        report.checks[1].hint = "Issuer is oauth.evil; the endpoint expects Y (saml.idpEntityId), see saml.signingCertificates."
        console.gateway.operations.getSignInReport.answer(with: report)
        let settings = try await console.get("/sign-ins/4bf9")
        #expect(settings.text.contains(#"<a href="/console/mvpds/NorthCable/edit#field-saml-idpEntityId"><code>saml.idpEntityId</code></a>"#))
        #expect(settings.text.contains(#"href="/console/mvpds/NorthCable/json#json""#) && !settings.text.contains("<code>oauth.evil"))
        let list = try await console.get("/sign-ins")
        #expect(list.text.contains("/console/sign-ins/4bf9"))
        #expect(list.text.contains("The assertion is for another service provider than us.") && list.text.contains(">audience</code>"))
        #expect(console.gateway.operations.listSignInReports.requests.last?.failedOnly == false)
        _ = try await console.get("/sign-ins?failed=1")
        #expect(console.gateway.operations.listSignInReports.requests.last?.failedOnly == true)
        _ = try await console.get("/sign-ins?mvpd=NorthCable")
        #expect(console.gateway.operations.listSignInReports.requests.last == ListSignInReportsRequest(mvpd: "NorthCable", failedOnly: false))
    }

    @Test("where nothing is remembered the list says since when, and a filter that finds nothing leads back to all")
    func saysThatThereIsNone() async throws {
        let all = try await console.get("/sign-ins").text
        #expect(all.contains("since the authentication service was last started") && !all.contains("checked"))
        let filtered = try await console.get("/sign-ins?failed=1").text
        #expect(filtered.contains("No sign-in like that is remembered.") && filtered.contains(#"<a href="/console/sign-ins">All sign-ins</a>"#))
        #expect(filtered.contains(#"name="failed" value="1" checked"#))
    }

    @Test("whoever tries a sign-in sees its checks when the answer has come: the page looks by itself until it is told to stop")
    func watches() async throws {
        let old = Self.report("t1", "NorthCable", .signedIn, at: 1_930_384_800_000)
        console.gateway.operations.listSignInReports.answer(with: SignInReports(reports: [old]))
        let start = try await console.get("/sign-ins/watch?mvpd=NorthCable")
        #expect(start.location == "/console/sign-ins/watch?mvpd=NorthCable&after=1930384800000")
        let waiting = try await console.get("/sign-ins/watch?mvpd=NorthCable&after=1930384800000")
        #expect(waiting.text.contains("No answer has come yet.") && waiting.headers[.refresh] == "4" && !waiting.text.contains(">t1<"))
        var new = Self.report("t2", "NorthCable", .rejected, at: 1_930_384_900_000)
        new.checks = [SignInCheck(step: 29, title: "we are the audience", outcome: .failed, reason: "audience", explanation: "no", hint: "")]
        console.gateway.operations.listSignInReports.answer(with: SignInReports(reports: [new, old]))
        console.gateway.operations.getSignInReport.answer(with: new)
        let shown = try await console.get("/sign-ins/watch?mvpd=NorthCable&after=1930384800000&paused=1")
        #expect(shown.text.contains("Check 29: we are the audience") && shown.text.contains("t2") && shown.headers[.refresh] == nil)
        #expect(shown.text.contains("https://tv.example/activate") && shown.text.contains("Look again"))
        #expect(try await console.get("/sign-ins/watch").location == "/console/sign-ins")
    }

    @Test("dashboard #2: sign-ins of other programmers are not there")
    func hidesForeignSignIns() async throws {
        let editor = ConsoleFixture(.editor)
        var foreign = Self.report("t1", "NorthCable", .rejected, at: 5)
        foreign.requestor = "BRAVO"
        editor.gateway.operations.listSignInReports.answer(with: SignInReports(reports: [foreign]))
        editor.gateway.operations.getSignInReport.answer(with: foreign)
        #expect(try await !editor.get("/sign-ins").text.contains("/console/sign-ins/t1"))
        #expect(try await editor.get("/sign-ins/t1").status == 404)
        #expect(try await !editor.get("").text.contains("NorthCable"))
    }

    @Test("dashboard #32 and #33: a degradation needs an end and the MVPD's word, and is one rule for each channel")
    func degrades() async throws {
        let channels = ["ACME1", "ACME2"].map { CatalogueEntity(kind: .requestor, id: $0, json: #"{"id":"\#($0)","name":"N"}"#) }
        console.gateway.administration.listEntities.answer(with: EntityPage(entities: channels, total: 2, page: 1, size: 200))
        console.gateway.administration.startDegradation.answer(with: DegradationOutcome(outcome: .started(DegradationRules())))
        let form = try await console.get("/degradation/new?mvpd=NorthCable")
        #expect(form.text.contains(#"name="mvpds" type="text" value="NorthCable""#) && form.text.contains("ACME2"))
        let incomplete = try await console.post("/degradation/new", "mvpds=NorthCable&kind=AuthNAll&minutes=9999&requestor=ACME1&reason=down")
        #expect(
            incomplete.status == 422 && incomplete.text.contains("Confirm that the MVPD agrees.") && incomplete.text.contains("how long it lasts"))
        #expect(incomplete.text.contains(#"value="down""#) && console.gateway.administration.startDegradation.requests.isEmpty)
        let fields = "mvpds=NorthCable+LakeTel&kind=AuthNAll&minutes=120&requestor=ACME1&requestor=ACME2&agreed=on"
        #expect(try await console.post("/degradation/new", fields).location == "/console/degradation?started=1")
        let requests = console.gateway.administration.startDegradation.requests
        #expect(requests.map(\.requestorID) == ["ACME1", "ACME2"] && requests.allSatisfy { $0.mvpdIDs == ["NorthCable", "LakeTel"] })
        #expect(Set(console.gateway.administration.startDegradation.contexts.map(\.idempotencyKey)).count == 2)
        console.gateway.administration.endDegradation.answer(with: EndDegradationResponse())
        #expect(try await console.post("/degradation/end", "id=r1").location == "/console/degradation?ended=1")
    }

    @Test("the audit log is read page by page")
    func audits() async throws {
        let record = AuditRecord(number: 4, createdAtMilliseconds: 1_930_384_800_000, author: "ed", action: "push", text: "<u>", version: 7)
        console.gateway.administration.listAuditRecords.answer(with: AuditPage(records: [record], total: 51, page: 1, size: 50))
        let page = try await console.get("/audit")
        #expect(page.text.contains("&lt;u&gt;") && page.text.contains("/console/history/7") && page.text.contains("/console/audit?page=2"))
    }
}
