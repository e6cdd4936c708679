internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct SupportTests {
    let gateway = TestGateway()

    init() {
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "ada", role: .operator))
        gateway.operations.findViewerSessions.answer(
            with: ViewerSessions(
                sessions: [
                    ViewerSession(
                        id: "s1", mvpd: "NorthCable", kind: .platform, authenticatedAtMilliseconds: 1, createdAtMilliseconds: 2,
                        expiresAtMilliseconds: 3, devicePrefix: "dev-", osName: "tvOS")
                ], code: ViewerCode(createdAtMilliseconds: 4, expiresAtMilliseconds: 5, isUsed: true)))
        gateway.authorization.findRefusals.answer(
            with: SessionRefusals(refusals: [SessionRefusal(sessionID: "s1", code: "authorization_denied_by_mvpd", refusedAtMilliseconds: 7)]))
        gateway.operations.endViewerSessions.answer(with: EndViewerSessionsResponse(ended: 1))
    }

    private var subjects: [String] { gateway.administration.checkAdministrator.requests.map(\.subject) }

    @Test("a look-up is allowed, made and recorded with the beginning of the id, in this order")
    func finds() async throws {
        let reply = try await gateway.administer(.post, "/support/sessions", #"{"requestor":"ACME1","device":"dev-7f3a-0001"}"#)
        #expect(
            reply.text
                == #"{"sessions":[{"id":"s1","mvpd":"NorthCable","way":"platform","authenticatedAt":1,"createdAt":2,"expiresAt":3,"device":"dev-…","#
                + #""deviceType":null,"deviceModel":null,"os":"tvOS","lastRefusal":{"at":7,"code":"authorization_denied_by_mvpd","source":"mvpd","#
                + #""reason":"The MVPD said no, mostly because the subscription does not include the channel."}}],"more":false,"#
                + #""code":{"createdAt":4,"expiresAt":5,"used":true},"refusalsKnown":true}"#)
        #expect(gateway.authorization.findRefusals.requests == [FindRefusalsRequest(sessionIDs: ["s1"])])
        #expect(subjects == ["", "looked for device dev-…, found 1"])
        #expect(gateway.administration.checkAdministrator.requests.allSatisfy { $0.permission == .support && $0.requestorID == "ACME1" })
        #expect(
            gateway.operations.findViewerSessions.requests == [FindViewerSessionsRequest(requestor: "ACME1", viewer: .deviceID("dev-7f3a-0001"))])
        _ = try await gateway.administer(.post, "/support/sessions", #"{"requestor":"ACME1","user":"ada","mvpd":"NorthCable"}"#)
        #expect(subjects.last == "looked for user a… of NorthCable, found 1", "a short id is not written down whole")
    }

    @Test("sessions are shown without their refusals where those are not to be had")
    func withoutRefusals() async throws {
        for fault in [Fault(.unavailable, "away"), Fault(.unimplemented, "none")] {
            gateway.authorization.findRefusals.fail(with: fault)
            let reply = try await gateway.administer(.post, "/support/sessions", #"{"requestor":"ACME1","device":"dev-7f3a-0001"}"#)
            #expect(reply.status == 200 && reply.text.contains(#""lastRefusal":null"#) && reply.text.contains(#""refusalsKnown":false"#))
        }
    }

    @Test("an end is recorded before it is made")
    func ends() async throws {
        let one = try await gateway.administer(.post, "/support/sessions/end", #"{"requestor":"ACME1","code":"ABCDEFG","session":"s1"}"#)
        #expect(one.status == 200 && one.text == #"{"ended":1}"#)
        _ = try await gateway.administer(.post, "/support/sessions/end", #"{"requestor":"ACME1","code":"ABCDEFG","session":"all"}"#)
        #expect(subjects == ["ends session s1… of code ABC…", "ends all sessions of code ABC…"])
        #expect(gateway.operations.endViewerSessions.requests.map(\.sessionID) == ["s1", ""])
    }

    @Test("whoever may not look reaches authentication never, and an answer that is not recorded is not given")
    func isRefused() async throws {
        gateway.administration.checkAdministrator.fail(with: Fault(.notFound, "none"))
        #expect(try await gateway.administer(.post, "/support/sessions", #"{"requestor":"BRAVO","device":"d1"}"#).status == 404)
        #expect(try await gateway.administer(.post, "/support/sessions/end", #"{"requestor":"BRAVO","device":"d1","session":"all"}"#).status == 404)
        gateway.administration.checkAdministrator.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await gateway.administer(.post, "/support/sessions", #"{"requestor":"ACME1","device":"d1"}"#).status == 403)
        #expect(gateway.operations.findViewerSessions.requests.isEmpty && gateway.operations.endViewerSessions.requests.isEmpty)
        gateway.administration.checkAdministrator.answer { request, _ in
            guard request.subject.isEmpty else { throw Fault(.unavailable, "away") }
            return Administrator(name: "ada", role: .operator)
        }
        #expect(try await gateway.administer(.post, "/support/sessions", #"{"requestor":"ACME1","device":"d1"}"#).status == 503)
        #expect(try await gateway.administer(.post, "/support/sessions/end", #"{"requestor":"ACME1","device":"d1","session":"all"}"#).status == 503)
        #expect(gateway.operations.endViewerSessions.requests.isEmpty)
    }

    @Test(
        "a look-up names one viewer, within bounds",
        arguments: [
            (#"{"device":"d"}"#, "requestor"), (#"{"requestor":"A"}"#, "device"), (#"{"requestor":"A","device":"d","code":"c"}"#, "device"),
            (#"{"requestor":"A","user":"u"}"#, "mvpd"), (#"{"requestor":"A","device":"a\u0001"}"#, "device"),
            ("{\"requestor\":\"A\",\"code\":\"\(String(repeating: "x", count: 513))\"}", "code"),
        ])
    func isBounded(body: String, field: String) async throws {
        let reply = try await gateway.administer(.post, "/support/sessions", body)
        #expect(reply.status == 422 && reply.failure["field"] as? String == field, "\(reply.text)")
        #expect(try await gateway.administer(.post, "/support/sessions/end", #"{"requestor":"A","device":"d"}"#).status == 422)
        #expect(gateway.operations.findViewerSessions.requests.isEmpty && gateway.operations.endViewerSessions.requests.isEmpty)
    }
}
