internal import Contracts
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsolePromoteTests {
    let console = ConsoleFixture(.operator)
    private static let change = CatalogueChange(number: 1, kind: .requestor, entityID: "ACME1", property: "name", operation: .replace)

    @Test("dashboard #3: another cluster's catalogue becomes a draft, which the review shows; what stays is said in the form")
    func promotes() async throws {
        let administration = console.gateway.administration
        administration.promoteCatalogue.answer(with: DraftOutcome(outcome: .draft(CatalogueDraft(changes: [Self.change]))))
        let form = try await console.get("/promote")
        #expect(form.status == 200 && form.text.contains(#"name="endpoints" value="keep" checked"#))
        let sent = try await console.post("/promote", "catalogue=%7B%7D&endpoints=keep")
        #expect(sent.status == 303 && sent.location == "/console/draft")
        let request = try #require(administration.promoteCatalogue.requests.last)
        #expect(request.catalogue == "{}" && request.keepEndpoints && !request.keepOthers)
        administration.promoteCatalogue.answer(with: DraftOutcome(outcome: .draft(CatalogueDraft())))
        let same = try await console.post("/promote", "catalogue=%7B%7D")
        #expect(same.status == 200 && same.text.contains("say the same"))
        let problem = FieldProblem(field: "catalogue", message: "is no JSON: <b>")
        administration.promoteCatalogue.answer(
            with: DraftOutcome(outcome: .refusal(Refusal(reason: .invalid, message: "One thing is wrong.", problems: [problem]))))
        let refused = try await console.post("/promote", "catalogue=%3Cb%3E")
        #expect(refused.status == 422 && refused.text.contains("&lt;b&gt;</textarea>") && refused.text.contains("is no JSON"))
    }

    @Test("a version is a file for another cluster")
    func exports() async throws {
        console.gateway.administration.getVersion.answer(
            with: VersionSnapshot(version: CatalogueVersion(version: 7), documentJson: #"{"requestors":[]}"#))
        let file = try await console.get("/history/7/catalogue")
        #expect(file.status == 200 && file.text == #"{"requestors":[]}"#)
        #expect(file.headers[.contentDisposition] == #"attachment; filename="catalogue-7.json""#)
    }

    @Test("the same over the administration API")
    func promotesOverHttp() async throws {
        let gateway = console.gateway
        gateway.administration.promoteCatalogue.answer(with: DraftOutcome(outcome: .draft(CatalogueDraft(changes: [Self.change]))))
        let headers: HTTPFields = [.authorization: "Bearer \(ConsoleFixture.secret)", .contentType: "application/json"]
        let reply = try await gateway.send(
            .post, "/admin/v1/draft/promote", headers, body: #"{"catalogue": {"requestors": []}, "keep": ["others"]}"#)
        #expect(reply.status == 200 && (reply.json["changes"] as? [Any])?.count == 1)
        let request = try #require(gateway.administration.promoteCatalogue.requests.last)
        #expect(request.keepOthers && !request.keepEndpoints && request.catalogue.contains("requestors"))
        for body in [#"{"catalogue": {}, "keep": ["all"]}"#, #"{"keep": []}"#] {
            #expect(try await gateway.send(.post, "/admin/v1/draft/promote", headers, body: body).status == 422)
        }
    }
}
