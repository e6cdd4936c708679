internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct PushAndVersionTests {
    let gateway = TestGateway()
    let version = CatalogueVersion(version: 7, createdAtMilliseconds: 5, author: "ada", description: "tvOS launch", isCurrent: true)

    @Test("dashboard #23: each line of the draft has its old and new value")
    func draft() async throws {
        let change = CatalogueChange(
            number: 2, kind: .requestor, entityID: "ACME1", property: "name", operation: .replace, oldJson: "\"A\"", newJson: "")
        gateway.administration.getDraft.answer(with: CatalogueDraft(baseVersion: 6, changes: [change], etag: "d1"))
        let reply = try await gateway.administer(.get, "/draft")
        #expect(reply.headers[.eTag] == "\"d1\"")
        #expect(
            reply.text
                == #"{"baseVersion":6,"changes":[{"number":2,"type":"requestor","id":"ACME1","property":"name","operation":"replace","old":"A","new":null}],"etag":"d1"}"#
        )
    }

    @Test("dashboard #24: dismissing the draft, or one line of it")
    func dismiss() async throws {
        gateway.administration.discardDraft.answer(with: CatalogueDraft())
        #expect(try await gateway.administer(.delete, "/draft").status == 204)
        gateway.administration.dropChange.answer(with: DraftOutcome(outcome: .draft(CatalogueDraft(baseVersion: 6))))
        let reply = try await gateway.administer(.delete, "/draft/changes/3", nil, [.ifMatch: "\"d1\""])
        #expect(reply.status == 200 && reply.text == #"{"baseVersion":6,"changes":[],"etag":null}"#)
        #expect(gateway.administration.dropChange.requests == [DropChangeRequest(token: "admin", number: 3, ifMatch: "d1")])
        #expect(try await gateway.administer(.delete, "/draft/changes/x").status == 404)
        #expect(try await gateway.administer(.delete, "/draft/changes/4294967296").status == 404)
    }

    @Test(
        "dashboard #22: a push without description is 422 and names it",
        arguments: ["{}", #"{"description":7}"#, #"{"description":"x","more":1}"#, "[]"])
    func pushNeedsADescription(body: String) async throws {
        let reply = try await gateway.administer(.post, "/draft/push", body)
        #expect(reply.status == 422 && reply.failure["code"] as? String == "invalid")
        #expect((reply.failure["problems"] as? [[String: Any]])?.isEmpty == false)
        #expect(gateway.administration.pushDraft.requests.isEmpty)
    }

    @Test func aBodyThatIsNoJSONIs400() async throws {
        #expect(try await gateway.administer(.post, "/draft/push", "{").status == 400)
    }

    @Test func aPushAnswersWithItsVersion() async throws {
        gateway.administration.pushDraft.answer(with: PushOutcome(outcome: .version(version)))
        let reply = try await gateway.administer(.post, "/draft/push", #"{"description":"tvOS launch"}"#)
        #expect(reply.status == 202 && reply.headers[.location] == "/admin/v1/versions/7")
        #expect(reply.json["version"] as? Int == 7 && reply.json["status"] as? String == "success" && reply.json["approver"] is NSNull)
    }

    @Test("dashboard #30: a push may wait for a second person")
    func approval() async throws {
        let pending = PendingPush(id: "p1", author: "ada", description: "d", createdAtMilliseconds: 5, baseVersion: 6)
        gateway.administration.pushDraft.answer(with: PushOutcome(outcome: .pending(pending)))
        let waiting = try await gateway.administer(.post, "/draft/push", #"{"description":"d"}"#)
        #expect(waiting.status == 202 && waiting.json["status"] as? String == "waiting" && waiting.headers[.location] == "/admin/v1/pushes")
        gateway.administration.listPendingPushes.answer(with: PendingPushes(pushes: [pending]))
        #expect((try await gateway.administer(.get, "/pushes").json["pushes"] as? [[String: Any]])?.first?["id"] as? String == "p1")
        gateway.administration.decidePush.answer { request, _ in
            PushOutcome(outcome: request.approve ? .refusal(Refusal(reason: .secondPersonRequired)) : .declined(pending))
        }
        #expect(try await gateway.administer(.post, "/pushes/p1/approve").status == 403)
        let declined = try await gateway.administer(.post, "/pushes/p1/decline")
        #expect(declined.status == 200 && declined.json["status"] as? String == "declined")
    }

    @Test func versionsAreListedAndShown() async throws {
        gateway.administration.listVersions.answer(with: VersionPage(versions: [version], total: 1, page: 1, size: 50))
        #expect((try await gateway.administer(.get, "/versions").json["versions"] as? [[String: Any]])?.first?["current"] as? Bool == true)
        gateway.administration.getVersion.answer(with: VersionSnapshot(version: version, documentJson: #"{"mvpds":[]}"#))
        let shown = try await gateway.administer(.get, "/versions/7")
        #expect(shown.status == 200 && shown.text.hasSuffix(#""document":{"mvpds":[]}}"#))
        #expect(try await gateway.administer(.get, "/versions/seven").status == 404)
        gateway.administration.restoreVersion.answer(with: DraftOutcome(outcome: .draft(CatalogueDraft(baseVersion: 7, etag: "d"))))
        #expect(try await gateway.administer(.post, "/versions/3/restore").status == 200)
        #expect(gateway.administration.restoreVersion.requests.map(\.version) == [3])
    }

    @Test("dashboard #27: a comparison needs exactly two versions", arguments: ["", "?a=1", "?b=1", "?a=1&b=x", "?a=1&a=2&b=3", "?a=&b=2"])
    func comparison(query: String) async throws {
        gateway.administration.compareVersions.answer(with: VersionComparison(oldVersion: 1, newVersion: 2))
        #expect(try await gateway.administer(.get, "/versions/compare\(query)").status == 400)
        let good = try await gateway.administer(.get, "/versions/compare?a=1&b=2")
        #expect(good.status == 200 && good.text == #"{"a":1,"b":2,"changes":[]}"#)
        #expect(gateway.administration.compareVersions.requests == [CompareVersionsRequest(token: "admin", oldVersion: 1, newVersion: 2)])
    }
}
