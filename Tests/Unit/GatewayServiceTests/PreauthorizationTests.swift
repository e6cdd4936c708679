internal import Contracts
internal import Faults
internal import Hummingbird
internal import Testing

@Suite struct PreauthorizationTests {
    let gateway = TestGateway()

    private static let path = "/api/v1/preauthorize"
    private static let answer = Preauthorization(resources: [
        PreauthorizedResource(id: "A", authorized: true),
        PreauthorizedResource(
            id: "B", authorized: false, refusal: ResourceRefusal(code: "preauthorization_denied_by_mvpd", details: "Not in your package")),
        PreauthorizedResource(id: "<C>", authorized: false, refusal: ResourceRefusal(code: "network_connection_timeout")),
    ])

    private func ask(_ query: String, requestor: String = "ACME1", suffix: String = "") async throws -> Reply {
        try await gateway.get("\(Self.path)\(suffix)?requestor=\(requestor)&deviceId=d\(query)")
    }

    @Test("rest-v1 #73: items in order, JSON and XML, with request id and confidence")
    func shapes() async throws {
        gateway.authorization.preauthorize.answer(with: Self.answer)
        let json = try await ask("&resource=A,B,%3CC%3E")
        #expect(json.status == 200)
        #expect(json.text == #"{"resources":[{"id":"A","authorized":true},{"id":"B","authorized":false},{"id":"<C>","authorized":false}]}"#)
        #expect(json.headers[.confidence] == "full" && json.headers[.requestID]?.isEmpty == false)
        #expect(gateway.authorization.preauthorize.requests.first?.resources?.text == "A,B,<C>")
        let xml = try await ask("&resource=A", suffix: ".xml")
        #expect(
            xml.text.hasSuffix(
                "<resources><resource><id>A</id><authorized>true</authorized></resource><resource><id>B</id><authorized>false</authorized></resource>"
                    + "<resource><id>&lt;C&gt;</id><authorized>false</authorized></resource></resources>"))
    }

    @Test("rest-v1 #77: item errors only where enhanced errors are on; partial confidence either way")
    func itemErrors() async throws {
        var answer = Self.answer
        answer.isPartial = true
        gateway.authorization.preauthorize.answer(with: answer)
        let plain = try await ask("&resource=A")
        #expect(plain.headers[.confidence] == "partial" && !plain.text.contains("error"))
        let enhanced = try await ask("&resource=A", requestor: "BRAVO")
        #expect(enhanced.headers[.confidence] == "partial")
        let items = try #require(enhanced.json["resources"] as? [[String: Any]])
        #expect(items[0]["error"] == nil)
        let denial = try #require(items[1]["error"] as? [String: Any])
        #expect(denial["code"] as? String == "preauthorization_denied_by_mvpd" && denial["action"] as? String == "none")
        #expect(denial["status"] as? Int == 403 && denial["details"] as? String == "Not in your package")
        #expect((denial["helpUrl"] as? String)?.hasPrefix("https://tv.example/") == true && denial["trace"] is String)
        let silence = try #require(items[2]["error"] as? [String: Any])
        #expect(silence["code"] as? String == "network_connection_timeout" && silence["action"] as? String == "retry" && silence["details"] == nil)
        let xml = try await ask("&resource=A", requestor: "BRAVO", suffix: ".xml")
        #expect(
            xml.text.contains("<authorized>false</authorized><error><action>none</action><status>403</status><code>preauthorization_denied_by_mvpd<"))
    }

    @Test("rest-v1 #75: an absent parameter is 400, an empty one 412, both missing_resource")
    func missingResource() async throws {
        gateway.authorization.preauthorize.fail(with: Fault(.missingResource, "Required 'resource' is not present"))
        gateway.authorization.authorize.fail(with: Fault(.missingResource, "Required 'resource' is not present"))
        for (query, status) in [("", 400), ("&resource=", 412)] {
            let reply = try await ask(query, requestor: "BRAVO")
            #expect(reply.status == status && reply.json["status"] as? Int == status)
            #expect(reply.json["code"] as? String == "missing_resource")
        }
        #expect(try await gateway.get("/api/v1/authorize?\(TestGateway.deviceQuery)&resource=").status == 400)
    }

    @Test(
        "rest-v1 #74, #76: refusals of the whole",
        arguments: [
            (Fault.Code.authenticationSessionMissing, 412, "preauthorization_authentication_session_missing"),
            (.authenticationSessionExpired, 412, "preauthorization_authentication_session_expired"),
            (.unknownIntegration, 412, "unknown_integration"),
            (.tooManyResources, 403, "too_many_resources"), (.malformedAuthzRequest, 400, "malformed_authz_request"),
            (.internal, 500, "internal_error"),
        ])
    func refusals(code: Fault.Code, status: Int, name: String) async throws {
        gateway.authorization.preauthorize.fail(with: Fault(code, "x"))
        let reply = try await ask("&resource=A", requestor: "BRAVO")
        #expect(reply.status == status && reply.json["status"] as? Int == status && reply.json["code"] as? String == name)
    }

    @Test("rest-v1 §3.16: a bearer is needed, another method is refused")
    func bearerAndMethod() async throws {
        #expect(try await gateway.get("\(Self.path)?\(TestGateway.deviceQuery)&resource=A", [:]).status == 401)
        #expect(try await gateway.send(.put, "\(Self.path)?\(TestGateway.deviceQuery)&resource=A").status == 405)
    }

    @Test("rest-v1 #79: by code without a bearer; one that is sent goes along")
    func byCode() async throws {
        gateway.authorization.preauthorizeByCode.answer(with: Self.answer)
        let reply = try await gateway.get("\(Self.path)/QK7M2XD?requestor=ACME1&resource=A", [.accept: "application/json"])
        #expect(reply.status == 200 && reply.headers[.confidence] == "full")
        _ = try await gateway.get("\(Self.path)/QK7M2XD.json?requestor=ACME1&resource=A", [.authorization: "Bearer good"])
        let requests = gateway.authorization.preauthorizeByCode.requests
        #expect(requests.map(\.code) == ["QK7M2XD", "QK7M2XD"] && requests.map(\.accessToken) == ["", "good"])
        #expect(requests.map { $0.resources?.text } == ["A", "A"])
        for (query, status) in [("requestor=ACME1", 400), ("resource=A", 400), ("requestor=NOPE&resource=A", 400)] {
            #expect(try await gateway.get("\(Self.path)/QK7M2XD?\(query)", [:]).status == status)
        }
        #expect(try await gateway.get("\(Self.path)/QK7M2XD?requestor=ACME1", [.authorization: "Bearer bad"]).status == 401)
        gateway.authorization.preauthorizeByCode.fail(with: Fault(.authenticationSessionMissing, "x"))
        #expect(try await gateway.get("\(Self.path)/QK7M2XD?requestor=ACME1&resource=A", [:]).status == 412)
    }

    @Test("rest-v1 §3.14: generic_data travels with authorize")
    func genericData() async throws {
        _ = try await gateway.get("/api/v1/authorize?\(TestGateway.deviceQuery)&resource=A&generic_data=%7B%22email%22:%220a%22%7D")
        #expect(gateway.authorization.authorize.requests.first?.genericData == #"{"email":"0a"}"#)
    }
}

extension HTTPFields.Element.Name {
    fileprivate static let confidence = Self("Adobe-Response-Confidence")!
}
