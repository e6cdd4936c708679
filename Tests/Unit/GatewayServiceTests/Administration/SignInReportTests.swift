internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Testing

@Suite struct SignInReportTests {
    let gateway = TestGateway()
    private let report = SignInReport(
        traceID: "4bf9", endedAtMilliseconds: 5, requestor: "ACME1", mvpd: "NorthCable", result: .rejected, reason: "audience",
        checks: [
            SignInCheck(step: 1, title: "one", outcome: .passed),
            SignInCheck(
                step: 29, title: "we are the audience", outcome: .failed, reason: "audience", explanation: "no", hint: "Audience names \"X\""),
            SignInCheck(step: 30, title: "later", outcome: .notReached),
        ], facts: [SignInFact(name: "audience", value: "X")])

    init() { gateway.administration.checkAdministrator.answer(with: Administrator(name: "ada", role: .operator)) }

    @Test("a sign-in is told check by check")
    func show() async throws {
        gateway.operations.getSignInReport.answer(with: report)
        let reply = try await gateway.administer(.get, "/sign-ins/4bf9")
        #expect(
            reply.text
                == #"{"trace":"4bf9","endedAt":5,"requestor":"ACME1","mvpd":"NorthCable","result":"rejected","reason":"audience","test":false,"checks":["#
                + #"{"step":1,"title":"one","outcome":"passed","reason":null,"explanation":null,"hint":null},"#
                + #"{"step":29,"title":"we are the audience","outcome":"failed","reason":"audience","explanation":"no","#
                + #""hint":"Audience names \"X\""},{"step":30,"title":"later","outcome":"notReached","reason":null,"explanation":null,"hint":null}"#
                + #"],"message":[{"name":"audience","value":"X"}]}"#)
        #expect(gateway.operations.getSignInReport.requests == [GetSignInReportRequest(traceID: "4bf9")])
        gateway.operations.getSignInReport.fail(with: Fault(.notFound, "none"))
        #expect(try await gateway.administer(.get, "/sign-ins/0").status == 404)
    }

    @Test("who is bound to programmers sees the sign-ins of their requestors, and no strays")
    func scope() async throws {
        var stray = report
        (stray.requestor, stray.mvpd) = ("", "")
        gateway.operations.listSignInReports.answer(with: SignInReports(reports: [report, stray]))
        #expect(try await signIns() == 2)
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "vera", role: .viewer, programmerIDs: ["acme"]))
        #expect(try await signIns() == 1)
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "boris", role: .editor, programmerIDs: ["bravo"]))
        gateway.operations.getSignInReport.answer(with: report)
        #expect(try await signIns() == 0)
        #expect(try await gateway.administer(.get, "/sign-ins/4bf9").status == 404)
        #expect(try await gateway.administer(.get, "/sign-ins?failed=perhaps").status == 400)
        #expect(gateway.administration.checkAdministrator.requests.allSatisfy { $0.permission == .read })
    }

    private func signIns() async throws -> Int {
        let reply = try await gateway.administer(.get, "/sign-ins?failed=true&mvpd=NorthCable")
        #expect(gateway.operations.listSignInReports.requests.last == ListSignInReportsRequest(mvpd: "NorthCable", failedOnly: true))
        return (reply.json["signIns"] as? [[String: Any]])?.count ?? -1
    }

    @Test("a response in hand is passed on to be explained")
    func explain() async throws {
        gateway.operations.explainResponse.answer(with: report)
        let body = #"{"samlResponse":"AAAA","mvpd":"NorthCable","requestor":"ACME1","at":7,"requestId":"_1"}"#
        #expect(try await gateway.administer(.post, "/saml/explanation", body).status == 200)
        let expected = ExplainResponseRequest(
            samlResponse: "AAAA", mvpd: "NorthCable", requestor: "ACME1", atMilliseconds: 7, requestID: "_1")
        #expect(gateway.operations.explainResponse.requests == [expected])
        #expect(try await gateway.administer(.post, "/saml/explanation", #"{"mvpd":"NorthCable"}"#).status == 422)
        gateway.administration.checkAdministrator.fail(with: Fault(.accessDenied, "no"))
        #expect(try await gateway.administer(.post, "/saml/explanation", body).status == 401)
    }

    @Test("who is bound to programmers has a response explained that is addressed to a requestor of theirs by itself, and no other company's")
    func explainsOwnAlone() async throws {
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "vera", role: .editor, programmerIDs: ["acme"]))
        func explain(_ facts: [(String, String)], requestor: String? = "ACME1") async throws -> Int {
            var explained = report
            explained.facts = facts.map { SignInFact(name: $0.0, value: $0.1) }
            gateway.operations.explainResponse.answer(with: explained)
            let member = requestor.map { #","requestor":"\#($0)""# } ?? ""
            return try await gateway.administer(.post, "/saml/explanation", #"{"samlResponse":"AAAA","mvpd":"NorthCable"\#(member)}"#).status
        }
        let own = ("audience", "https://sp.example/on-behalf-of/ACME1")
        #expect(try await explain([own, ("attribute", "email: 1 value [hidden]")]) == 200)
        #expect(gateway.administration.checkAdministrator.requests.last?.requestorID == "ACME1")
        // Nothing was decrypted.
        #expect(try await explain([("root", "Response"), ("encryption", "aes")]) == 200)
        for foreign in [
            [("audience", "https://sp.example/on-behalf-of/BRAVO1")], [own, ("audience", "https://sp.example")], [("NameID", "[hidden]")],
        ] {
            #expect(try await explain(foreign) == 422)
        }
        let asked = gateway.operations.explainResponse.requests.count
        #expect(try await explain([own], requestor: nil) == 422)
        gateway.administration.checkAdministrator.answer { request, _ in
            guard request.requestorID.isEmpty else { throw Fault(.notFound, "none") }
            return Administrator(name: "vera", role: .editor, programmerIDs: ["acme"])
        }
        #expect(try await explain([own], requestor: "BRAVO1") == 404)
        #expect(gateway.operations.explainResponse.requests.count == asked)
    }
}
