internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct EntityTests {
    let gateway = TestGateway()
    let entity = CatalogueEntity(kind: .requestor, id: "ACME1", json: #"{"id":"ACME1","limit":1e400}"#, etag: "abc")

    @Test(arguments: EntityCollection.allCases)
    func eachCollectionIsListedByPageAndQuery(collection: EntityCollection) async throws {
        gateway.administration.listEntities.answer(
            with: EntityPage(
                entities: [CatalogueEntity(kind: collection.kind, id: "x", json: #"{"id":"x"}"#, etag: "e", isChanged: true)], total: 3, page: 2,
                size: 1))
        let reply = try await gateway.administer(.get, "/\(collection.rawValue)?q=ac%20me&page=2&size=1")
        #expect(reply.status == 200)
        let state = collection == .upstreams ? #","state":null"# : ""
        #expect(reply.text == #"{"items":[{"id":"x","etag":"e","changed":true,"entity":{"id":"x"}\#(state)}],"total":3,"page":2,"size":1}"#)
        let request = try #require(gateway.administration.listEntities.requests.first)
        #expect(request.token == "admin" && request.kind == collection.kind && request.query == "ac me")
        #expect(request.page == PageRequest(page: 2, size: 1))
        #expect(reply.headers[.cacheControl] == "no-store")
    }

    @Test(arguments: ["page=0", "page=x", "size=0", "size=201", "page=-1", "page=99999999999999999999"])
    func aPageThatIsNoneIsRefused(query: String) async throws {
        let reply = try await gateway.administer(.get, "/mvpds?\(query)")
        #expect(reply.status == 400 && reply.failure["code"] as? String == "invalid_request")
        #expect((reply.failure["field"] as? String).map { query.hasPrefix($0) } == true)
        #expect(gateway.administration.listEntities.requests.isEmpty)
    }

    @Test func anEntryIsPassedOnWordForWordWithItsTag() async throws {
        gateway.administration.getEntity.answer(with: entity)
        let reply = try await gateway.administer(.get, "/requestors/ACME1")
        #expect(reply.text == #"{"id":"ACME1","entity":{"id":"ACME1","limit":1e400}}"#)
        #expect(reply.headers[.eTag] == "\"abc\"")
        let again = try await gateway.administer(.get, "/requestors/ACME1", nil, [.ifNoneMatch: "\"abc\""])
        #expect(again.status == 304 && again.text.isEmpty)
    }

    @Test("lists are narrowed by what an entry connects, and to what the draft changes")
    func narrows() async throws {
        gateway.administration.listEntities.answer(with: EntityPage(entities: [], total: 0, page: 1, size: 50))
        #expect(try await gateway.administer(.get, "/integrations?requestor=ACME1&mvpd=LakeTel&changed=true").status == 200)
        let request = gateway.administration.listEntities.requests.last
        #expect(request?.requestorID == "ACME1" && request?.mvpdID == "LakeTel" && request?.changedOnly == true)
        #expect(try await gateway.administer(.get, "/integrations?changed=perhaps").status == 400)
    }

    @Test("dashboard #16: what an integration comes to is told with its sources, and never taken from a copy")
    func effective() async throws {
        gateway.administration.getEntity.answer(
            with: CatalogueEntity(id: "ACME1/NorthCable", json: "{}", etag: "abc", effectiveJson: #"{"authnTtl":1}"#))
        let reply = try await gateway.administer(.get, "/integrations/ACME1/NorthCable", nil, [.ifNoneMatch: "\"abc\""])
        #expect(reply.status == 200 && (reply.json["effective"] as? [String: Int]) == ["authnTtl": 1])
        #expect(gateway.administration.getEntity.requests.map(\.id) == ["ACME1/NorthCable"])
    }

    @Test("dashboard #4: a new entry is in the draft, 201 with its address")
    func create() async throws {
        gateway.administration.createEntity.answer(
            with: EntityOutcome(
                outcome: .changed(EntityChanged(entity: entity, warnings: [FieldProblem(field: "domains[0]", message: "is covered")]))))
        let reply = try await gateway.administer(.post, "/requestors", #"{"id": "ACME1"}"#)
        #expect(reply.status == 201 && reply.headers[.location] == "/admin/v1/requestors/ACME1" && reply.headers[.eTag] == "\"abc\"")
        #expect(reply.text.hasSuffix(#""warnings":[{"field":"domains[0]","message":"is covered"}]}"#))
        #expect(gateway.administration.createEntity.requests.map(\.json) == [#"{"id": "ACME1"}"#])
        #expect(gateway.administration.createEntity.contexts.first?.idempotencyKey != nil)
    }

    @Test func theAddressOfAnIntegrationHasBothEnds() async throws {
        let changed = EntityChanged(entity: CatalogueEntity(kind: .integration, id: "ACME1/New Cable", json: "{}"))
        gateway.administration.createEntity.answer(with: EntityOutcome(outcome: .changed(changed)))
        #expect(try await gateway.administer(.post, "/integrations", "{}").headers[.location] == "/admin/v1/integrations/ACME1/New%20Cable")
    }

    @Test(arguments: [("\"abc\"", "abc"), ("*", "*"), ("W/\"abc\"", "weak")])
    func aChangeNamesWhatItReplaces(sent: String, passed: String) async throws {
        gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged(entity: entity))))
        #expect(try await gateway.administer(.put, "/requestors/ACME1", "{}", [.ifMatch: sent]).status == 200)
        #expect(gateway.administration.replaceEntity.requests.map(\.ifMatch) == [passed])
    }

    @Test("decision 0021: a certificate that is not valid today is confirmed beside the entry, and a refusal names its digest")
    func confirmsCertificates() async throws {
        let problem = FieldProblem(field: "saml.signingCertificates[0]", message: "is expired", confirmableCertificate: "abcd")
        gateway.administration.replaceEntity.answer(
            with: EntityOutcome(outcome: .refusal(Refusal(reason: .invalid, message: "no", problems: [problem]))))
        let refused = try await gateway.administer(.put, "/mvpds/NewCable", "{}", [.ifMatch: "*"])
        #expect(refused.status == 422 && refused.text.contains(#""confirmExpired":"abcd""#), "\(refused.text)")
        gateway.administration.replaceEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged(entity: entity))))
        let confirmed = try await gateway.administer(.put, "/mvpds/NewCable?confirmExpired=abcd&confirmExpired=ef01", "{}", [.ifMatch: "*"])
        #expect(confirmed.status == 200 && gateway.administration.replaceEntity.requests.last?.confirmedCertificates == ["abcd", "ef01"])
        gateway.administration.createEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged(entity: entity))))
        _ = try await gateway.administer(.post, "/mvpds?confirmExpired=abcd", "{}")
        #expect(gateway.administration.createEntity.requests.last?.confirmedCertificates == ["abcd"])
    }

    @Test(arguments: ["abc", "\"a\", \"b\"", "\"", "\"\""])
    func aMalformedTagIsRefused(sent: String) async throws {
        #expect(try await gateway.administer(.put, "/requestors/ACME1", "{}", [.ifMatch: sent]).status == 400)
        #expect(try await gateway.administer(.delete, "/requestors/ACME1", nil, [.ifMatch: sent]).status == 400)
    }

    @Test func aDeletionIsSilentUnlessThereAreWarnings() async throws {
        gateway.administration.deleteEntity.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        #expect(try await gateway.administer(.delete, "/mvpds/Preview10", nil, [.ifMatch: "*"]).status == 204)
        let warned = EntityChanged(warnings: [FieldProblem(field: "", message: "apps lose it")])
        gateway.administration.deleteEntity.answer(with: EntityOutcome(outcome: .changed(warned)))
        let reply = try await gateway.administer(.delete, "/mvpds/Preview10", nil, [.ifMatch: "*"])
        #expect(reply.status == 200 && reply.text == #"{"warnings":[{"field":"","message":"apps lose it"}]}"#)
    }

    @Test func aSchemeIsGenerated() async throws {
        gateway.administration.generateCustomScheme.answer(
            with: EntityOutcome(outcome: .changed(EntityChanged(entity: entity, customScheme: "adbe.abc://"))))
        let reply = try await gateway.administer(.post, "/requestors/ACME1/custom-schemes")
        #expect(reply.status == 201 && reply.text == #"{"customScheme":"adbe.abc://"}"#)
    }
}
