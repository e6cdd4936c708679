internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Pages of upstreams, for operators alone (bridge §14.1, §15.3).
@Suite struct ConsoleUpstreamTests {
    let console = ConsoleFixture(.operator)

    private static let json =
        #"{"id":"vendor","baseUrl":"https://api.vendor.example","clients":[{"id":"tv","statementReference":"acme-v2","requestors":["ACME1"],"#
        + #""platforms":"all"}],"seconds":{"list":150}}"#

    init() {
        Self.prepare(console)
    }

    private static func prepare(_ console: ConsoleFixture) {
        let upstream = CatalogueEntity(kind: .upstream, id: "vendor", json: json, etag: "u1")
        console.gateway.administration.getEntity.answer { request, _ in
            guard request.kind == .upstream, request.id == "vendor" else { throw Fault(.notFound, "no") }
            return upstream
        }
        console.gateway.administration.listEntities.answer { request, _ in
            request.kind == .upstream && !request.changedOnly
                ? EntityPage(entities: [upstream], total: 1, page: 1, size: 50) : EntityPage(entities: [], total: 0, page: 1, size: 50)
        }
        console.gateway.administration.checkAdministrator.answer(with: Administrator(name: "ada", role: .operator))
        console.gateway.operations.listUpstreamStates.answer(
            with: UpstreamStates(states: [
                UpstreamState(
                    upstream: "vendor", clients: 3, deviceClients: 2, openBreakers: ["session"], openLogouts: 4, clockOffsetMilliseconds: -7400,
                    alarms: [UpstreamAlarm(event: "bridge.clock_skew", atMilliseconds: 1_930_384_800_000, count: 2, details: ConsoleFixture.hostile)])
            ]))
        var configuration = DemoCatalogue.configuration
        configuration.upstreams = [BridgeUpstream(id: "vendor", baseURL: "https://api.vendor.example")]
        configuration.requestors[0].bridge = RequestorBridge(upstreamID: "vendor", serviceProvider: "SP")
        configuration.integrations.append(
            Integration(requestorID: "ACME1", mvpdID: "CoastCable", enabled: true, bridge: IntegrationBridge(mvpdName: "Coast")))
        console.gateway.catalogue.publish(configuration)
    }

    private var checks: [String] { console.gateway.administration.checkAdministrator.requests.map(\.subject) }

    @Test("an operator has a list and a page of each upstream, with how it is; its entry is changed like any other, by its tag")
    func lists() async throws {
        let list = try await console.get("/upstreams")
        #expect(list.text.contains(#"href="/console/upstreams/vendor""#) && list.text.contains("<bdi>fails</bdi>"))
        #expect(list.text.contains("https://api.vendor.example") && list.text.contains("/console/new/upstreams"))
        let page = try await console.get("/upstreams/vendor")
        #expect(page.text.contains("Calls that rest: session.") && page.text.contains("7 s behind ours"))
        #expect(
            page.text.contains("Its clock and ours differ too much.") && page.text.contains("2031-03-04 10:00 UTC, 2 times")
                && page.text.contains("<code>bridge.clock_skew</code>"))
        #expect(
            page.text.contains("acme-v2") && page.text.contains(#"href="/console/channels/ACME1""#) && !page.text.contains(ConsoleFixture.hostile))
        #expect(page.text.contains("<dt>A list</dt><dd><bdi>150</bdi>") && !page.text.contains("Calls a second"), "what nobody set is left out")
        for part in ["check", "offers", "reset", "edit", "json"] { #expect(page.text.contains("/console/upstreams/vendor/\(part)\""), "\(part)") }
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        let saved = try await console.post(
            "/upstreams/vendor/edit", "etag=u1&baseUrl=https%3A%2F%2Fapi.vendor.example&seconds.list=200&fillDeviceInfo=on")
        #expect(saved.location == "/console/upstreams/vendor?saved=1")
        let request = try #require(console.gateway.administration.replaceEntity.requests.last)
        #expect(request.kind == .upstream && request.ifMatch == "u1" && request.json.contains(#""seconds":{"list":200}"#))
        #expect(request.json.contains(#""statementReference":"acme-v2""#), "what has no field stays")
        console.gateway.operations.listUpstreamStates.fail(with: Fault(.unavailable, "away"))
        #expect(try await console.get("/upstreams/vendor").text.contains("nobody can say how the upstream is"))
        #expect(try await console.get("/upstreams").text.contains("not known"))
    }

    @Test("each alarm that Bridge.md explains is a sentence of its own; one of a newer release is told by its name")
    func hasWordsForAlarms() throws {
        let guide = try String(contentsOfFile: TestGateway.pages + "/../../../Shared/Documents/Operations/Bridge.md", encoding: .utf8)
        let list = try #require(guide.split(separator: "logs these alarms:").last?.split(separator: "- Two warnings are no alarms.").first)
        let events = Set(list.matches(of: /`(bridge\.\w+)`/).map { String($0.1) })
        #expect(events.count == 18)
        func sentence(_ event: String) -> String { UpstreamAlarmText(alarm: UpstreamAlarm(event: event)).sentence }
        let unknown = sentence("bridge.something_new")
        #expect(unknown.contains("bridge.something_new"))
        #expect(events.filter { sentence($0).contains($0) } == [])
        #expect(Set(events.map(sentence)).count == events.count)
    }

    @Test("editors and viewers get the page of a role that does not allow it, at each address, and no entry of the navigation")
    func refusesOthers() async throws {
        for role in [AdministratorRole.editor, .viewer] {
            let other = ConsoleFixture(role)
            Self.prepare(other)
            for path in ["", "/vendor", "/vendor/edit", "/vendor/json", "/vendor/check", "/vendor/offers", "/vendor/reset"] {
                let page = try await other.get("/upstreams" + path)
                #expect(page.status == 403 && page.text.contains("Your role does not allow this. An operator can do it."), "\(path)")
            }
            #expect(try await other.get("/new/upstreams").status == 403)
            for path in ["/vendor/check", "/vendor/reset", "/vendor/delete", "/vendor/edit"] {
                #expect(try await other.post("/upstreams" + path, "device=d&confirmed=1&etag=*").status == 403, "\(path)")
            }
            #expect(try await !other.get("/channels").text.contains("/console/upstreams"))
            #expect(other.gateway.operations.checkUpstream.requests.isEmpty && other.gateway.operations.resetUpstreamClient.requests.isEmpty)
            #expect(other.gateway.administration.getEntity.requests.isEmpty)
        }
        #expect(try await console.get("/channels").text.contains("/console/upstreams"))
    }

    private static func check(_ step: UInt32, _ outcome: SignInCheckOutcome) -> UpstreamCheck {
        UpstreamCheck(
            steps: [UpstreamCheckStep(step: step, title: "step \(step)", outcome: outcome, expected: "e", seen: ConsoleFixture.hostile, advice: "a")],
            requestor: "ACME1")
    }

    @Test("a check walks part by part, each in the audit log, and stops where nothing further has a meaning")
    func checks() async throws {
        let parts: [UpstreamCheckPart: UInt32] = [.client: 3, .session: 5, .decision: 9, .throttle: 11]
        console.gateway.operations.checkUpstream.answer { request, _ in Self.check(parts[request.part] ?? 0, .passed) }
        #expect(try await console.get("/upstreams/vendor/check").text.contains(#"<option value="ACME1""#))
        let page = try await console.post("/upstreams/vendor/check", "requestor=ACME1&throttle=on")
        for step in parts.values { #expect(page.text.contains(#"<li value="\#(step)">"#)) }
        #expect(page.text.contains("Each of these steps passed") && page.text.contains("Begin a sign-in"))
        #expect(!page.text.contains(ConsoleFixture.hostile))
        #expect(checks == ["client", "session", "decision", "throttle"].map { "vendor checked, \($0)" })
        #expect(Set(console.gateway.operations.checkUpstream.contexts.map(\.idempotencyKey)).count == 4, "each part is a call of its own")
        console.gateway.operations.checkUpstream.answer { _, _ in Self.check(2, .failed) }
        let failed = try await console.post("/upstreams/vendor/check", "requestor=ACME1")
        #expect(failed.text.contains("Not every step passed") && failed.text.contains("The steps that follow were not tried."))
        #expect(failed.text.contains("What helps") && !failed.text.contains("Begin a sign-in"))
        #expect(console.gateway.operations.checkUpstream.requests.count == 5)
        console.gateway.operations.checkUpstream.answer { request, _ in
            guard request.part == .client else { throw Fault(.upstreamUnavailable, "away") }
            return Self.check(3, .passed)
        }
        let away = try await console.post("/upstreams/vendor/check", "requestor=ACME1")
        #expect(away.status == 422 && away.text.contains("The upstream does not answer") && away.text.contains(#"<li value="3">"#))
    }

    @Test("a person signs in in another tab, and the check goes on when they have")
    func checksASignIn() async throws {
        var begun = Self.check(11, .passed)
        (begun.browserAddress, begun.ticket) = ("https://login.vendor.example/a?b", "ticket.1")
        console.gateway.operations.checkUpstream.answer(with: begun)
        let page = try await console.post("/upstreams/vendor/check", "requestor=ACME1&step=signIn")
        #expect(page.text.contains(#"href="https://login.vendor.example/a?b""#) && page.text.contains(#"name="ticket" value="ticket.1""#))
        console.gateway.operations.checkUpstream.answer(with: UpstreamCheck(requestor: "ACME1", isOpen: true))
        let open = try await console.post("/upstreams/vendor/check", "requestor=ACME1&step=signedIn&ticket=ticket.1&resource=NEWS")
        #expect(open.text.contains("Nobody has signed in yet") && open.text.contains(#"value="ticket.1""#) && open.text.contains(#"value="NEWS""#))
        #expect(
            console.gateway.operations.checkUpstream.requests.last
                == CheckUpstreamRequest(upstream: "vendor", requestor: "ACME1", part: .signedIn, ticket: "ticket.1", resource: "NEWS"))
        console.gateway.operations.checkUpstream.answer(with: Self.check(12, .passed))
        let ended = try await console.post("/upstreams/vendor/check", "requestor=ACME1&step=signedIn&ticket=ticket.1")
        #expect(ended.text.contains(#"<li value="12">"#) && !ended.text.contains("ticket.1"))
        let long = String(repeating: "x", count: UpstreamController.largestCertificate + 1)
        let refused = try await console.post("/upstreams/vendor/check", "step=signedIn&ticket=ticket.1&certificate=\(long)")
        #expect(refused.status == 422 && refused.text.contains("at most 65536 octets"))
    }

    @Test("offers stand beside what the catalogue has of them")
    func offers() async throws {
        console.gateway.operations.readUpstreamList.answer(
            with: UpstreamList(
                upstream: "vendor", serviceProvider: "SP",
                entries: [
                    UpstreamListEntry(id: "Coast", displayName: "Coast & Cable"), UpstreamListEntry(id: "New", isTemporaryPass: true),
                ], droppedIDs: ["a b"]))
        #expect(try await !console.get("/upstreams/vendor/offers").text.contains("<table"))
        #expect(console.gateway.operations.readUpstreamList.requests.isEmpty)
        let page = try await console.get("/upstreams/vendor/offers?requestor=ACME1&platform=tvos")
        #expect(page.text.contains("Coast &amp; Cable") && page.text.contains(#"href="/console/integrations/ACME1/CoastCable""#))
        #expect(page.text.contains("2 MVPDs for") && page.text.contains("a b") && page.text.contains(">TempPass<"))
        #expect(console.gateway.operations.readUpstreamList.requests == [ReadUpstreamListRequest(requestor: "ACME1", platform: .tvos)])
        #expect(try await console.get("/upstreams/vendor/offers?requestor=ACME1&platform=tv").status == 422)
        console.gateway.operations.readUpstreamList.fail(with: Fault(.notFound, "no"))
        let none = try await console.get("/upstreams/vendor/offers?requestor=ACME2&platform=tvos")
        #expect(none.status == 422 && none.text.contains("none of its clients serves it"))
    }

    @Test("a reset asks first, and says who has to sign in again; the device's id is in no address and not whole in the audit log")
    func resets() async throws {
        console.gateway.operations.resetUpstreamClient.answer(with: ResetUpstreamClientResponse(wasKnown: true, sessions: 2))
        let asks = try await console.post("/upstreams/vendor/reset", "device=dev-7f3a")
        #expect(asks.status == 200 && asks.text.contains("Who has to sign in again") && asks.text.contains("on the device <bdi>dev-7f3a</bdi>"))
        #expect(asks.text.contains("Other devices do not notice.") && console.gateway.operations.resetUpstreamClient.requests.isEmpty)
        let done = try await console.post("/upstreams/vendor/reset", "device=dev-7f3a&confirmed=1")
        #expect(done.text.contains("2 sessions have ended") && checks == ["vendor client of the device dev-… reset"])
        #expect(console.gateway.operations.resetUpstreamClient.requests == [ResetUpstreamClientRequest(upstream: "vendor", deviceID: "dev-7f3a")])
        // An address would keep it.
        #expect(try await console.post("/upstreams/vendor/reset?device=dev-7f3a&confirmed=1", "").status == 422)
        console.gateway.operations.resetUpstreamClient.answer(with: ResetUpstreamClientResponse())
        let unknown = try await console.post("/upstreams/vendor/reset", "device=dev-1&confirmed=1")
        #expect(unknown.status == 404 && unknown.text.contains("No client serves that device"))
        var configuration = DemoCatalogue.configuration
        configuration.upstreams = [BridgeUpstream(id: "vendor", clientScope: .shared)]
        console.gateway.catalogue.publish(configuration)
        let shared = try await console.post("/upstreams/vendor/reset", "device=dev-7f3a")
        #expect(shared.text.contains("on other devices too") && !shared.text.contains("Other devices do not notice."))
    }
}
