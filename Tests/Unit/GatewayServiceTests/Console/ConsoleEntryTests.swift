internal import Contracts
internal import Faults
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsoleEntryTests {
    let console = ConsoleFixture()

    init() { console.gateway.administration.getEntity.answer(with: ConsoleFixture.integration()) }

    @Test("a list's page leads to the next one while there is one, though a page holds a single entry")
    func pages() throws {
        func pager(_ page: UInt32) throws -> [String: Any] {
            try #require(PagerContent(total: 2, page: page, size: 1) { "page \($0)" }.content["pager"] as? [String: Any])
        }
        let (first, last, beyond) = (try pager(1), try pager(2), try pager(3))
        #expect(first["nextAddress"] as? String == "page 2" && first["previousAddress"] == nil && first["range"] as? String == "1–1 of 2")
        #expect(last["nextAddress"] == nil && last["previousAddress"] as? String == "page 1" && last["range"] as? String == "2–2 of 2")
        #expect(beyond["nextAddress"] == nil && beyond["range"] as? String == "None of 2")
    }

    @Test("dashboard #1: a viewer sees lists and entries, and no control that changes anything")
    func viewerSeesNoControls() async throws {
        let viewer = ConsoleFixture(.viewer)
        viewer.gateway.administration.getEntity.answer(with: ConsoleFixture.integration())
        viewer.gateway.administration.listEntities.answer(
            with: EntityPage(entities: [ConsoleFixture.integration()], total: 1, page: 1, size: 50))
        for path in ["", "/integrations", "/integrations/ACME1/NorthCable", "/degradation", "/history"] {
            let page = try await viewer.get(path)
            #expect(page.status == 200)
            let forms = page.text.split(separator: "<form").dropFirst().filter { $0.contains("method=\"post\"") }
            #expect(forms.allSatisfy { $0.contains("/console/sign-out") }, "\(path)")
            #expect(!page.text.contains("/edit\"") && !page.text.contains("/new"))
        }
        #expect(viewer.gateway.administration.getDraft.requests.isEmpty)
        viewer.gateway.administration.replaceEntity.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await viewer.post("/integrations/ACME1/NorthCable/edit", "etag=e1").status == 403)
    }

    @Test("lists are paged and narrowed by config, and stay small")
    func lists() async throws {
        let names = String(repeating: "W", count: 80)
        let entities = (0..<50).map {
            CatalogueEntity(kind: .mvpd, id: "MVPD-\($0)", json: #"{"id":"MVPD-\#($0)","displayName":"\#(names)","oauth":{}}"#, etag: "e")
        }
        console.gateway.administration.listEntities.answer(with: EntityPage(entities: entities, total: 500, page: 3, size: 50))
        let page = try await console.get("/mvpds?q=W%26&page=3")
        #expect(page.text.contains("101–150 of 500") && page.text.contains("/console/mvpds?q=W%26&amp;page=4"))
        #expect(page.text.utf8.count < 60_000)
        let request = console.gateway.administration.listEntities.requests.last
        #expect(request?.query == "W&" && request?.page == PageRequest(page: 3, size: 50) && request?.kind == .mvpd)
        _ = try await console.get("/integrations?requestor=ACME1&mvpd=NorthCable&changed=1")
        let narrowed = console.gateway.administration.listEntities.requests.last { $0.kind == .integration }
        #expect(narrowed?.requestorID == "ACME1" && narrowed?.mvpdID == "NorthCable" && narrowed?.changedOnly == true)
        #expect(try await console.get("/mvpds?page=0").status == 400)
    }

    @Test("hostile names are text everywhere", arguments: [ConsoleFixture.hostile, ConsoleFixture.accented])
    func escapes(name: String) async throws {
        let escaped = name.unicodeScalars.map { $0 == "\"" ? "\\\"" : String($0) }.joined()
        let json = #"{"id":"X","displayName":"\#(escaped)","logoUrl":"javascript:alert(1)","saml":{}}"#
        let entity = CatalogueEntity(kind: .mvpd, id: "X", json: json, etag: "e")
        let operators = ConsoleFixture(.operator)
        operators.gateway.administration.getEntity.answer(with: entity)
        operators.gateway.administration.listEntities.answer(with: EntityPage(entities: [entity], total: 1, page: 1, size: 50))
        for path in ["/mvpds", "/mvpds/X", "/mvpds/X/edit", "/mvpds/X/json", "/mvpds?q=" + ConsoleAddress.text([name]).dropFirst(9)] {
            let page = try await operators.get(path)
            #expect(page.status == 200 && page.text.utf8.firstRange(of: name.utf8) == nil, "\(path)")
            #expect(page.text.utf8.firstRange(of: (name == ConsoleFixture.hostile ? "&lt;script&gt;" : "x&quot;").utf8) != nil, "\(path)")
            #expect(!page.text.contains("href=\"javascript"))
        }
    }

    @Test("the look of a channel's sign-in pages has fields of its own")
    func editsTheLook() async throws {
        let json = ##"{"id":"ACME1","name":"Acme","favouriteMvpds":["NorthCable","LakeTel"],"accentColor":"#0b5fad"}"##
        console.gateway.administration.getEntity.answer(with: CatalogueEntity(kind: .requestor, id: "ACME1", json: json, etag: "e"))
        let page = try await console.get("/channels/ACME1/edit")
        #expect(page.text.contains("Favourite MVPDs") && page.text.contains(#"value="NorthCable" list="mvpds-ids""#))
        #expect(page.text.contains(##"value="#0b5fad""##) && page.text.contains(#"name="headerColor""#) && page.text.contains(#"name="logoUrl""#))
        for name in ["privacyUrl", "termsUrl", "supportUrl"] { #expect(page.text.contains(#"name="\#(name)""#), "\(name)") }
    }

    @Test("dashboard #16: an entry shows what it comes to on each platform, and the level of each value")
    func showsEffective() async throws {
        let page = try await console.get("/integrations/ACME1/NorthCable")
        #expect(page.text.contains("30 days") && page.text.contains("7 days") && page.text.contains("integration:roku"))
        #expect(page.text.contains(#"<td class="own"><bdi>7 days</bdi>"#))
    }

    @Test("an edit goes to the draft, with what has no field left as it is")
    func edits() async throws {
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        let form = try await console.get("/integrations/ACME1/NorthCable/edit")
        #expect(form.text.contains(#"name="enabled" value="on" checked"#) && form.text.contains(#"name="etag" value="e1""#))
        let fields = "etag=e1&authnTtl.d=30&authnTtl.h=&authnTtl.m=&authnTtl.s=&metadataKeys=userID%0D%0Azip+encrypted%0D%0A&preflightMaxResources="
        let reply = try await console.post("/integrations/ACME1/NorthCable/edit", fields)
        #expect(reply.status == 303 && reply.location == "/console/integrations/ACME1/NorthCable?saved=1")
        let request = try #require(console.gateway.administration.replaceEntity.requests.last)
        #expect(request.ifMatch == "e1" && request.token == ConsoleFixture.secret && request.id == "ACME1/NorthCable")
        #expect(
            request.json
                == #"{"authnTtl":2592000,"enabled":false,"metadataKeys":["userID",{"encrypted":true,"key":"zip"}],"mvpd":"NorthCable","requestor":"ACME1"}"#
        )
    }

    @Test("what is wrong stands at its field, and what was typed stays")
    func tellsProblems() async throws {
        let number = try await console.post("/integrations/ACME1/NorthCable/edit", "etag=e1&preflightMaxResources=many&authnTtl.d=x")
        #expect(number.status == 422 && number.text.contains(#"value="many""#) && number.text.contains("must be a whole number"))
        #expect(console.gateway.administration.replaceEntity.requests.isEmpty)
        let refusal = Refusal(
            reason: .invalid, message: "The content is not valid.",
            problems: [FieldProblem(field: "authnTtl", message: "must be from 60"), FieldProblem(field: "requestors/X: domains[0]", message: "<b>")])
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .refusal(refusal)))
        let refused = try await console.post("/integrations/ACME1/NorthCable/edit", "etag=e1&enabled=on&authnTtl.s=5")
        #expect(refused.status == 422 && refused.text.contains("must be from 60") && refused.text.contains(##"href="#field-authnTtl""##))
        #expect(
            refused.text.contains("requestors/X: domains[0]: &lt;b&gt;")
                && refused.text.contains(#"name="authnTtl.s" type="text" inputmode="numeric" value="5""#))
    }

    @Test("an entry that somebody changed meanwhile is shown beside what was typed; the same form once more changes nothing")
    func isOvertaken() async throws {
        let refusal = Refusal(reason: .preconditionFailed, message: "The entry is another one by now.")
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .refusal(refusal)))
        console.gateway.administration.getEntity.answer(with: ConsoleFixture.integration(enabled: #","enabled":false"#, etag: "e2"))
        let overtaken = try await console.post("/integrations/ACME1/NorthCable/edit", "etag=e1&enabled=on&metadataKeys=userID")
        #expect(overtaken.status == 409 && overtaken.text.contains("changed after you opened") && overtaken.text.contains(#"name="etag" value="e2""#))
        #expect(overtaken.text.contains(#"name="enabled" value="on" checked"#))
        let again = try await console.post("/integrations/ACME1/NorthCable/edit", "etag=e1&metadataKeys=userID")
        #expect(again.status == 303)
        let json = try await console.post("/integrations/ACME1/NorthCable/json", "etag=e1&json=%7B%22mine%22%3A1%7D")
        #expect(json.status == 412 && json.text.contains("{&quot;mine&quot;:1}") && json.text.contains("How it stands now"))
    }

    @Test("dashboard #20: one button switches an integration off in the draft, and leads to the review")
    func switches() async throws {
        console.gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        let reply = try await console.post("/integrations/ACME1/NorthCable/switch", "etag=e1&enabled=")
        #expect(reply.location == "/console/draft")
        #expect(console.gateway.administration.replaceEntity.requests.last?.json.contains(#""enabled":false"#) == true)
        _ = try await console.post("/integrations/ACME1/NorthCable/switch", "etag=e1&enabled=on")
        #expect(console.gateway.administration.replaceEntity.requests.count == 1)
    }

    @Test("dashboard #4: a new entry goes to the draft, and what keeps it out is told with what was typed")
    func creates() async throws {
        let page = try await console.get("/new/integrations?requestor=ACME1")
        #expect(page.status == 200 && page.text.contains(#"name="requestor" type="text" inputmode="text" value="ACME1""#))
        let duplicate = Refusal(reason: .duplicate, message: "There is a channel 'NEW' already.")
        console.gateway.administration.createEntity.answer(with: EntityOutcome(outcome: .refusal(duplicate)))
        let refused = try await console.post("/new/channels", "id=NEW&name=New&programmer=acme&domains=new.example")
        #expect(refused.status == 409 && refused.text.contains("NEW&#39; already") && refused.text.contains(#"value="New""#))
        #expect(
            console.gateway.administration.createEntity.requests.last?.json
                == #"{"domains":["new.example"],"id":"NEW","name":"New","programmer":"acme"}"#)
        let made = EntityChanged(entity: CatalogueEntity(kind: .requestor, id: "NEW"))
        console.gateway.administration.createEntity.answer(with: EntityOutcome(outcome: .changed(made)))
        #expect(try await console.post("/new/channels", "id=NEW&name=New").location == "/console/channels/NEW?saved=1")
    }

    @Test("what others refer to is not deleted, and they are linked")
    func deletes() async throws {
        let refusal = Refusal(
            reason: .referenced, message: "Others refer to it.", references: [EntityReference(kind: .application, id: "acme-tv")])
        console.gateway.administration.deleteEntity.answer(with: EntityOutcome(outcome: .refusal(refusal)))
        let refused = try await console.post("/integrations/ACME1/NorthCable/delete", "etag=e1")
        #expect(refused.status == 409 && refused.text.contains(#"href="/console/applications/acme-tv""#))
        console.gateway.administration.deleteEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        #expect(try await console.post("/integrations/ACME1/NorthCable/delete", "etag=e1").location == "/console/draft")
    }
}
