internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The degradation calls of programmers' back offices (clients §4.18).
@Suite struct DegradationControlTests {
    let gateway = TestGateway()
    private static let path = "/control/v3/degradation/acme"

    init() {
        gateway.authentication.verifyAccessToken.answer { request, _ in
            guard request.accessToken == "good" else { throw Fault(.accessDenied, "The access token is not accepted.") }
            guard request.requestor.isEmpty || request.requestor == "ACME1" else { throw Fault(.insufficientScope, "foreign") }
            return VerifiedClient(clientID: "c", applicationID: "acme-ops", scopes: ["decisions:owner"], requestorIDs: ["ACME1"])
        }
        gateway.administration.listDegradationMeasures.answer(with: DegradationRules(rules: [Self.none, Self.login]))
        gateway.administration.applyDegradationMeasure.answer(
            with: DegradationOutcome(outcome: .started(DegradationRules(rules: [Self.none]))))
        gateway.administration.removeDegradationMeasures.answer(with: DegradationRules())
    }

    private static let none = ActiveDegradation(
        rule: DegradationRule(
            id: "r1", kind: .authzNone, requestorID: "ACME1", mvpdID: "NorthCable", resources: ["ACME1-NEWS"],
            startsAtMilliseconds: 1_773_947_121_500, endsAtMilliseconds: 1_773_947_721_500, message: "Not now."), author: "application acme-ops")
    private static let login = ActiveDegradation(
        rule: DegradationRule(
            id: "r2", kind: .authnAll, requestorID: "ACME1", mvpdID: "LakeTel", startsAtMilliseconds: 1_773_947_121_000,
            endsAtMilliseconds: 1_773_947_181_000), author: "ada", endedAtMilliseconds: 1_773_947_181_000)

    private static let measure =
        #"{"id":"authz-none","programmer":{"id":"ACME1"},"mvpd":{"id":"NorthCable"},"channel":[{"id":"ACME1-NEWS"}],"enabled":true,"#
        + #""status":"APPLIED","ttl":600,"err-msg":"Not now.","activation-time":1773947121}"#

    private func ask(_ method: HTTPRequest.Method, _ rest: String, token: String? = "good", _ more: HTTPFields = [:]) async throws -> Reply {
        var headers = more
        if let token { headers[.authorization] = "Bearer \(token)" }
        return try await gateway.send(method, Self.path + rest, headers)
    }

    @Test("clients #95: all kinds are listed in three lists, as V8 asks for them")
    func listsAll() async throws {
        let query = "?programmer=ACME1&mvpd=NorthCable&format=json&media-company=acme&resource=&channel=&includeHistory=false"
        let reply = try await ask(.get, "/all" + query)
        #expect(reply.status == 200 && reply.headers[.contentType] == "application/json; charset=utf-8")
        let login =
            #"{"id":"authn-all","programmer":{"id":"ACME1"},"mvpd":{"id":"LakeTel"},"enabled":false,"status":"EXPIRED","ttl":60,"err-msg":"","#
            + #""activation-time":1773947121}"#
        #expect(reply.text == #"{"authnRules":[\#(login)],"authzRules":[],"authzNoneRules":[\#(Self.measure)]}"#)
        let scope = DegradationScope(applicationID: "acme-ops", programmerID: "acme", requestorID: "ACME1", mvpdIDs: ["NorthCable"])
        #expect(gateway.administration.listDegradationMeasures.requests == [ListDegradationMeasuresRequest(scope: scope)])
        #expect(gateway.authentication.verifyAccessToken.requests.map(\.scope) == ["decisions:owner"])
    }

    @Test("clients #95: one kind is a list of measures; includeHistory asks for those that ended")
    func listsOne() async throws {
        gateway.administration.listDegradationMeasures.answer(with: DegradationRules(rules: [Self.none]))
        let reply = try await ask(.get, "/authzNone?programmer=ACME1&channel=ACME1-NEWS&includeHistory=true")
        #expect(reply.text == #"{"degradation-measure":[\#(Self.measure)]}"#)
        let request = try #require(gateway.administration.listDegradationMeasures.requests.first)
        #expect(request.includesFormer && request.scope?.kinds == [.authzNone] && request.scope?.resources == ["ACME1-NEWS"])
        #expect(try await ask(.get, "/authnAll").status == 200)
        #expect(gateway.administration.listDegradationMeasures.requests.last?.scope?.requestorID == "")
    }

    @Test("clients #95: POST adds a rule, DELETE removes; both name what they touch")
    func appliesAndRemoves() async throws {
        let query = "?programmer=ACME1&mvpd=NorthCable&mvpd=LakeTel&channel=ACME1-NEWS&ttl=600&msg=Not%20now."
        let reply = try await ask(.post, "/authzNone" + query)
        #expect(reply.status == 201 && reply.text == #"{"degradation-measure":[\#(Self.measure)]}"#)
        let scope = DegradationScope(
            applicationID: "acme-ops", programmerID: "acme", requestorID: "ACME1", kinds: [.authzNone], mvpdIDs: ["NorthCable", "LakeTel"],
            resources: ["ACME1-NEWS"])
        let expected = ApplyDegradationMeasureRequest(scope: scope, ttlSeconds: 600, message: "Not now.")
        #expect(gateway.administration.applyDegradationMeasure.requests == [expected])
        let without = try await ask(.post, "/authzAll?programmer=ACME1&mvpd=NorthCable&resource=ACME1-KIDS")
        #expect(without.status == 201 && gateway.administration.applyDegradationMeasure.requests.last?.ttlSeconds == 0)
        #expect(gateway.administration.applyDegradationMeasure.requests.last?.scope?.resources == ["ACME1-KIDS"])
        let gone = try await ask(.delete, "/all?programmer=ACME1")
        #expect(gone.status == 204 && gone.text.isEmpty)
        let all = DegradationScope(applicationID: "acme-ops", programmerID: "acme", requestorID: "ACME1")
        #expect(gateway.administration.removeDegradationMeasures.requests == [RemoveDegradationMeasuresRequest(scope: all)])
        #expect(try await ask(.post, "/all?programmer=ACME1&mvpd=NorthCable").status == 405)
    }

    @Test("the bearer comes first, in JSON; then what is missing or wrong")
    func refusals() async throws {
        for query in ["", "?programmer=ACME1", "?programmer=ACME1&mvpd=NorthCable&ttl=0"] {
            #expect(try await ask(.post, "/authnAll" + query, token: nil).status == 401)
            let stale = try await ask(.post, "/authnAll" + query, token: "stale")
            #expect(stale.status == 401 && stale.json["error"] as? String == "access_denied")
        }
        for query in [
            "", "?mvpd=NorthCable", "?programmer=ACME1", "?programmer=ACME1&mvpd=", "?programmer=ACME1&mvpd=NorthCable&ttl=0",
            "?programmer=ACME1&mvpd=NorthCable&ttl=86401", "?programmer=ACME1&mvpd=NorthCable&ttl=soon", "?programmer=ACME1&programmer=ACME2",
        ] {
            let reply = try await ask(.post, "/authnAll" + query)
            #expect(reply.status == 400 && reply.json["message"] is String, "\(query): \(reply.text)")
        }
        #expect(try await ask(.delete, "/authnAll?mvpd=NorthCable").status == 400)
        #expect(gateway.administration.applyDegradationMeasure.requests.isEmpty && gateway.administration.removeDegradationMeasures.requests.isEmpty)
    }

    @Test("clients #95, #101: another programmer's requestor or media company, or a client without the scope, is 403")
    func foreign() async throws {
        let requestor = try await ask(.get, "/all?programmer=BRAVO")
        #expect(requestor.status == 403 && requestor.json["error"] as? String == "insufficient_scope")
        gateway.administration.listDegradationMeasures.fail(with: Fault(.insufficientScope, "x"))
        gateway.administration.applyDegradationMeasure.fail(with: Fault(.insufficientScope, "x"))
        let company = try await ask(.get, "/all?programmer=ACME1")
        #expect(company.status == 403 && company.json["error"] as? String == "insufficient_scope")
        #expect(try await ask(.post, "/authnAll?programmer=ACME1&mvpd=NorthCable").status == 403)
        gateway.authentication.verifyAccessToken.fail(with: Fault(.insufficientScope, "no decisions:owner"))
        #expect(try await ask(.get, "/all").status == 403)
        let signed = try await gateway.send(
            .get, Self.path + "/all", [.authorization: "GET requestor_id=ACME1, nonce=1, public_key=k, signature=s"])
        #expect(signed.status == 401)
    }

    @Test("what config refuses is 400, and 503 while it is away")
    func refusedByConfig() async throws {
        let problem = FieldProblem(field: "mvpds[0]", message: "is no MVPD that is integrated with the requestor")
        gateway.administration.applyDegradationMeasure.answer(
            with: DegradationOutcome(outcome: .refusal(Refusal(reason: .invalid, message: "x", problems: [problem]))))
        #expect(try await ask(.post, "/authnAll?programmer=ACME1&mvpd=Nobody").status == 400)
        gateway.administration.applyDegradationMeasure.fail(with: Fault(.unavailable, "away"))
        #expect(try await ask(.post, "/authnAll?programmer=ACME1&mvpd=NorthCable").status == 503)
    }
}
