internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct AdministrationRefusalTests {
    let gateway = TestGateway()

    @Test(arguments: [nil, "admin", "Basic YTpi", "Bearer", "Bearer a b"])
    func withoutABearerNobodyIsAsked(header: String?) async throws {
        let reply = try await gateway.send(.get, "/admin/v1/draft?access_token=admin", HTTPFields().with(.authorization, header))
        #expect(reply.status == 401 && reply.headers[.wwwAuthenticate] == "Bearer")
        #expect(reply.failure["code"] as? String == "access_denied" && reply.failure["trace"] is String)
        #expect(gateway.administration.getDraft.requests.isEmpty)
    }

    @Test("who one is comes before what one says, at every administrative route")
    func strangersLearnNothingOfTheirBody() async throws {
        gateway.administration.getAdministrator.fail(with: Fault(.accessDenied, "no"))
        let routes = try gateway.routes().filter { $0.path.hasPrefix("/admin/v1") }
        #expect(routes.count > 30)
        for route in routes {
            for method in route.handlers.keys {
                let path = route.path.replacing(/\{[a-z]+\}/, with: "0x")
                for body in ["{\"nonsense\":1", "{}"] {
                    let reply = try await gateway.send(method, path + "?size=nonsense", TestGateway.administrator, body: body)
                    #expect(reply.status == 401 && reply.failure["code"] as? String == "access_denied", "\(method) \(path)")
                }
            }
        }
    }

    @Test(
        "dashboard §5: each fault has its status",
        arguments: [
            (Fault.Code.accessDenied, 401, "access_denied"), (.insufficientRole, 403, "insufficient_role"), (.notFound, 404, "not_found"),
            (.invalidRequest, 400, "invalid_request"), (.unavailable, 503, "unavailable"), (.overloaded, 503, "unavailable"),
            (.internal, 500, "internal_error"), (.storageFull, 503, "unavailable"), (.unimplemented, 501, "not_offered"),
        ])
    func faults(code: Fault.Code, status: Int, name: String) async throws {
        gateway.administration.getDraft.fail(with: Fault(code, "said so"))
        let reply = try await gateway.administer(.get, "/draft")
        #expect(reply.status == status && reply.failure["code"] as? String == name)
        #expect((reply.headers[.retryAfter] != nil) == (status == 503))
        #expect(reply.headers[.contentType] == "application/json; charset=utf-8")
        if status >= 500 { #expect(!reply.text.contains("said so")) }
    }

    @Test(
        "dashboard §5: each refusal has its status",
        arguments: [
            (RefusalReason.duplicate, 409, "duplicate"), (.referenced, 409, "referenced"), (.conflict, 409, "conflict"),
            (.preconditionFailed, 412, "precondition_failed"), (.invalid, 422, "invalid"), (.secondPersonRequired, 403, "second_person_required"),
        ])
    func refusals(reason: RefusalReason, status: Int, name: String) async throws {
        let refusal = Refusal(
            reason: reason, message: "no", problems: [FieldProblem(field: "id", message: "is taken")],
            conflicts: [
                CatalogueChange(number: 1, kind: .mvpd, entityID: "NorthCable", property: "authnTtl", operation: .replace, oldJson: "1", newJson: "2")
            ],
            references: [EntityReference(kind: .integration, id: "ACME1/NorthCable")])
        gateway.administration.createEntity.answer(with: EntityOutcome(outcome: .refusal(refusal)))
        let reply = try await gateway.administer(.post, "/mvpds", "{}")
        #expect(reply.status == status)
        #expect(
            reply.text.hasPrefix(
                #"{"error":{"code":"\#(name)","message":"no","field":"id","problems":[{"field":"id","message":"is taken"}],"#
                    + #""conflicts":[{"number":1,"type":"mvpd","id":"NorthCable","property":"authnTtl","operation":"replace","old":1,"new":2}],"#
                    + #""references":[{"type":"integration","id":"ACME1/NorthCable"}],"trace":""#))
    }

    @Test func aBodyMustBeJSONTextOfAtMostAMebibyte() async throws {
        let wrongType = try await gateway.administer(.post, "/mvpds", "{}", [.contentType: "text/plain"])
        #expect(wrongType.status == 415 && wrongType.failure["code"] as? String == "unsupported_media_type")
        let nul = try await gateway.administer(.post, "/mvpds", "{\u{0}}")
        #expect(nul.status == 400)
        gateway.administration.createEntity.answer(
            with: EntityOutcome(outcome: .changed(EntityChanged(entity: CatalogueEntity(id: "x", json: "{}")))))
        let fits = try await gateway.administer(.post, "/mvpds", String(repeating: " ", count: 1 << 20))
        #expect(fits.status == 201)
        let large = try await gateway.administer(.post, "/mvpds", String(repeating: " ", count: 1 << 20 + 1))
        #expect(large.status == 413 && large.failure["code"] as? String == "too_large")
    }

    @Test func unknownAddressesAndMethodsAnswerAlike() async throws {
        let nowhere = try await gateway.administer(.get, "/nowhere")
        #expect(nowhere.status == 404 && nowhere.failure["code"] as? String == "not_found")
        let method = try await gateway.administer(.patch, "/requestors/ACME1", "{}")
        #expect(method.status == 405 && method.headers[.allow] == "GET, HEAD, PUT, DELETE, OPTIONS")
        #expect(method.failure["code"] as? String == "method_not_allowed")
    }
}
