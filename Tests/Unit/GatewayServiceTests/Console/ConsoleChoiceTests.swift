internal import Contracts
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Fields for ids have a list to choose from, also without scripts.
@Suite struct ConsoleChoiceTests {
    private let console = ConsoleFixture()

    /// Each field of a catalogue's id, as its page names it.
    private static let fields: [(page: String, fields: [String])] = [
        ("/integrations", ["requestor", "mvpd"]), ("/new/integrations", ["requestor", "mvpd"]), ("/new/channels", ["programmer", "favouriteMvpds"]),
        ("/new/applications", ["programmer", "requestors"]), ("/degradation/new", ["mvpds"]), ("/support", ["mvpd"]), ("/reports/sso", ["mvpd"]),
        ("/audit", ["entry"]), ("/usage", ["mvpd"]), ("/sign-ins", ["mvpd"]),
    ]

    @Test("every field for an id names a list that the page has", arguments: ConsoleChoiceTests.fields.map(\.page))
    func listed(page: String) async throws {
        console.gateway.administration.getReport.answer(with: CatalogueReport(columns: ["Desktop"]))
        console.gateway.administration.listAuditRecords.answer(with: AuditPage(total: 0, page: 1, size: 50))
        console.gateway.usage.queryUsage.answer { query, _ in UsageReport(metrics: query.metrics) }
        let text = try await console.get(page).text
        for field in Self.fields.first(where: { $0.page == page })?.fields ?? [] {
            let inputs = text.matches(of: /<input[^>]*>/).map { String($0.0) }.filter { $0.contains("name=\"\(field)\"") }
            #expect(!inputs.isEmpty, "\(page) has no field \(field)")
            for input in inputs {
                let list = try #require(input.firstMatch(of: /list="([^"]+)"/), "\(page): \(input)").1
                #expect(text.contains("<datalist id=\"\(list)\"><option"), "\(page): \(list)")
            }
        }
    }

    @Test("a list has what is live and what the draft adds, as far as the administrator may see it")
    func isTheAdministrators() async throws {
        console.gateway.administration.listEntities.answer { request, _ in
            guard request.kind == .mvpd, request.changedOnly else { return EntityPage(entities: [], total: 0, page: 1, size: 50) }
            let new = CatalogueEntity(
                kind: .mvpd, id: "NewCable", json: #"{"id":"NewCable","displayName":"New & Cable"}"#, etag: "e", isChanged: true)
            return EntityPage(entities: [new], total: 1, page: 1, size: 200)
        }
        let form = try await console.get("/new/integrations").text
        #expect(
            form.contains(#"<option value="NorthCable">North &amp; Cable</option>"#)
                && form.contains(#"<option value="NewCable">New &amp; Cable</option>"#))
        #expect(
            form.contains(#"<option value="ACME1">"#) && !form.contains(#"<option value="BRAVO">"#), "another programmer's channel is not offered")
        // Rules and sessions are of what is live.
        #expect(try await !console.get("/degradation/new").text.contains("NewCable"))
    }

    @Test("a large catalogue's list is bounded, and the page says that any other id can be typed")
    func isBounded() async throws {
        var configuration = DemoCatalogue.configuration
        configuration.mvpds += (0..<2000).map { Mvpd(id: "M\($0)", displayName: "Provider \($0)") }
        console.gateway.catalogue.publish(configuration)
        let page = try await console.get("/degradation/new")
        #expect(page.text.components("<option value=\"M") == IdChoices.most - 4 && page.text.contains("the first 500 of 2004 MVPDs"))
        #expect(page.text.utf8.count < 60_000, "\(page.text.utf8.count)")
    }

    @Test("ids are typed one in each input, or several in one; each counts once, in their order")
    func takesSeveral() async throws {
        #expect(TypedIds.list(["b a", "", " a,c ", "b\r\nd"]) == ["b", "a", "c", "d"])
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        let json = #"{"id":"ACME1","name":"Acme","favouriteMvpds":["NorthCable","LakeTel"]}"#
        console.gateway.administration.getEntity.answer(with: CatalogueEntity(kind: .requestor, id: "ACME1", json: json, etag: "e"))
        let page = try await console.get("/channels/ACME1/edit")
        #expect(page.text.components("name=\"favouriteMvpds\"") == 4, "two that are there, and two to add")
        _ = try await console.post(
            "/channels/ACME1/edit",
            "etag=e&name=Acme&favouriteMvpds=LakeTel&favouriteMvpds=&favouriteMvpds=OpenFiber+NorthCable&favouriteMvpds=LakeTel")
        #expect(
            console.gateway.administration.replaceEntity.requests.last?.json.contains(#""favouriteMvpds":["LakeTel","OpenFiber","NorthCable"]"#)
                == true)
        console.gateway.administration.startDegradation.answer(with: DegradationOutcome(outcome: .started(DegradationRules())))
        _ = try await console.post(
            "/degradation/new", "mvpds=NorthCable&mvpds=&mvpds=LakeTel%2COpenFiber&kind=AuthNAll&minutes=120&requestor=ACME1&agreed=on")
        #expect(console.gateway.administration.startDegradation.requests.map(\.mvpdIDs) == [["NorthCable", "LakeTel", "OpenFiber"]])
        let many = (0..<60).map { "M\($0)" }
        let inputs = TypedIds.inputs(many, of: .mvpds, name: "n", id: "i", label: "MVPD")["idInputs"] as? [[String: Any]] ?? []
        #expect(inputs.count == 43 && TypedIds.list(inputs.compactMap { $0["idValue"] as? String }) == many, "none is lost")
    }
}
