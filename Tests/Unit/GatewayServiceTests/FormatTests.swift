internal import Contracts
internal import Faults
internal import Testing

@Suite struct FormatTests {
    let gateway = TestGateway()
    private let missing = Fault(.authenticationSessionMissing, "none")

    @Test("rest-v1 #13: a wish for JSON gives a JSON error with status and message")
    func jsonError() async throws {
        gateway.authentication.getSession.fail(with: missing)
        let reply = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)")
        #expect(reply.status == 403)
        #expect(reply.headers[.contentType] == "application/json; charset=utf-8")
        #expect(reply.text == #"{"status":403,"message":"User not authenticated","details":null}"#)
    }

    @Test("rest-v1 #14: format=xml without Accept gives XML")
    func xmlByParameter() async throws {
        let reply = try await gateway.get(
            "/api/v1/tokens/authn?\(TestGateway.deviceQuery)&format=xml", TestGateway.device.with(.accept, nil))
        #expect(reply.headers[.contentType] == "application/xml; charset=utf-8")
        #expect(reply.text.hasPrefix(#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><authentication><requestor>ACME1</requestor>"#))
    }

    @Test("rest-v1 #15: a .json suffix beats Accept")
    func suffixWins() async throws {
        let headers = TestGateway.device.with(.accept, "application/xml")
        let reply = try await gateway.send(.post, "/reggie/v1/ACME1/regcode.json?deviceId=d1&format=xml", headers)
        #expect(reply.status == 201)
        #expect(reply.json["code"] as? String == "QK7M2XD")
    }

    @Test("rest-v1 #16: Accept */* gives XML")
    func wildcard() async throws {
        let reply = try await gateway.get("/api/v1/tokens/authn?\(TestGateway.deviceQuery)", TestGateway.device.with(.accept, "*/*"))
        #expect(reply.headers[.contentType] == "application/xml; charset=utf-8")
    }

    @Test(
        "rest-v1 #96: Accept is read by q values",
        arguments: [
            ("application/json, text/plain, */*", true), ("text/html, application/xml;q=0.9, */*;q=0.8", false),
            ("application/xml;q=0.5, application/json;q=0.6", true), ("application/json;q=0, application/xml;q=0.1", false),
            ("application/xml, application/json", false), ("image/png", false), ("application/json;q=x", true),
        ])
    func quality(accept: String, isJSON: Bool) async throws {
        let reply = try await gateway.get("/api/v1/tokens/authn?\(TestGateway.deviceQuery)", TestGateway.device.with(.accept, accept))
        #expect(reply.status == 200)
        #expect(reply.json.isEmpty != isJSON)
    }

    @Test func suffixOnCodeIsNoPartOfTheCode() async throws {
        _ = try await gateway.get("/api/v1/checkauthn/QK7M2XD.xml?requestor=ACME1")
        #expect(gateway.authentication.getSessionByCode.requests.map(\.code) == ["QK7M2XD"])
    }

    @Test func escapesMarkupAndCharactersThatXmlCannotCarry() async throws {
        gateway.authorization.authorize.answer { request, _ in Decision(resource: request.resource, expiresAtMilliseconds: 1) }
        let uri = "/api/v1/authorize?\(TestGateway.deviceQuery)&resource=%3Crss%3E%26%22'%01%0D"
        let xml = try await gateway.get(uri, TestGateway.device.with(.accept, "application/xml"))
        #expect(xml.text.contains("<resource>&lt;rss&gt;&amp;&quot;&apos;\u{fffd}&#13;</resource>"))
        let json = try await gateway.get(uri)
        #expect(json.json["resource"] as? String == "<rss>&\"'\u{1}\r")
    }

    @Test func everyReplyCarriesARequestIdAndIsNotStored() async throws {
        let one = try await gateway.get("/api/v1/tokens/authn?\(TestGateway.deviceQuery)")
        let two = try await gateway.get("/nowhere")
        #expect(one.headers[.requestID]?.count == 36 && two.headers[.requestID]?.count == 36)
        #expect(one.headers[.requestID] != two.headers[.requestID])
        #expect(one.headers[.cacheControl] == "no-store")
    }

    @Test(.tags(.timing)) func continuesTheCallersTrace() async throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        _ = try await gateway.get(
            "/api/v1/checkauthn?\(TestGateway.deviceQuery)", TestGateway.device.with(.traceparent, "00-\(trace)-00f067aa0ba902b7-01"))
        let context = try #require(gateway.authentication.getSession.contexts.first)
        #expect(context.trace.traceID == trace)
        #expect(context.trace.spanID != "00f067aa0ba902b7")
        #expect(try #require(context.timeLeft) > .seconds(5))
    }
}
