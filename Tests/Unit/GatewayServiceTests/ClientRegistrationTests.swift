internal import Contracts
internal import Faults
internal import Hummingbird
internal import Testing

@Suite struct ClientRegistrationTests {
    let gateway = TestGateway()
    private let form = "client_id=c1&client_secret=shh&grant_type=client_credentials"

    private func register(_ body: String, type: String? = "application/json; charset=utf-8", info: String? = nil) async throws -> Reply {
        let headers = HTTPFields([]).with(.contentType, type).with(.deviceInfo, info)
        return try await gateway.send(.post, "/o/client/register", headers, body: body)
    }

    @Test("rest-v1 #1: a registration is 201 with all six fields")
    func registers() async throws {
        let reply = try await register(#"{"software_statement":"a.b.c","redirect_uri":"https://acme.example/"}"#)
        #expect(reply.status == 201)
        #expect(Set(reply.json.keys) == ["client_id", "client_secret", "client_id_issued_at", "redirect_uris", "grant_types", "scopes"])
        #expect(reply.json["client_id_issued_at"] as? Int == 1_930_384_800)
        #expect(reply.headers[.cacheControl] == "no-store")
        #expect(gateway.authentication.registerClient.requests.first?.redirectURI == "https://acme.example/")
    }

    @Test(
        "rest-v1 #2: without a statement, or with another body, it is invalid_request",
        arguments: [
            "{}", #"{"software_statement":""}"#, #"{"software_statement":7}"#, "[]", "", "software_statement=a", #"{"software_statement":"a\u0000"}"#,
        ])
    func noStatement(body: String) async throws {
        let reply = try await register(body)
        #expect(reply.status == 400)
        #expect(reply.text == #"{"error":"invalid_request"}"#)
        #expect(gateway.authentication.registerClient.requests.isEmpty)
    }

    @Test func anotherContentTypeIsInvalidRequest() async throws {
        #expect(try await register(#"{"software_statement":"a.b.c"}"#, type: "text/plain").json["error"] as? String == "invalid_request")
        #expect(try await register(#"{"software_statement":"a.b.c"}"#, type: nil).status == 400)
    }

    @Test(
        "rest-v1 #3 #4 #5: the service's refusals keep their codes",
        arguments: [Fault.Code.invalidSoftwareStatement, .unapprovedSoftwareStatement, .invalidRedirectURI])
    func refusals(code: Fault.Code) async throws {
        gateway.authentication.registerClient.fail(with: Fault(code, "x"))
        let reply = try await register(#"{"software_statement":"a.b.c"}"#)
        #expect(reply.status == 400)
        #expect(reply.text == #"{"error":"\#(code.rawValue)"}"#)
    }

    @Test("rest-v1 #98: unreadable device information is taken from the User-Agent")
    func lenientDeviceInformation() async throws {
        let headers: HTTPFields = [
            .contentType: "application/json", .userAgent: "Roku/DVP-12.0", .deviceInfo: "eyJtb2RlbCI6IngiICJvc05hbWUiOiJ5In0=",
        ]
        let reply = try await gateway.send(.post, "/o/client/register", headers, body: #"{"software_statement":"a.b.c"}"#)
        #expect(reply.status == 201)
        #expect(gateway.authentication.registerClient.requests.first?.device?.osName == "Roku OS")
    }

    @Test("rest-v1 #6: a token is 201 with ms and s in their places")
    func issuesToken() async throws {
        let reply = try await gateway.post("/o/client/token", form: form, [:])
        #expect(reply.status == 201)
        #expect(reply.json["created_at"] as? Int == 1_930_384_800_123)
        #expect(reply.json["expires_in"] as? Int == 21600)
        #expect(reply.json["token_type"] as? String == "bearer")
        #expect(reply.headers[.cacheControl] == "no-store")
    }

    @Test("rest-v1 #7 #8: refusals of the token endpoint", arguments: [Fault.Code.invalidClient, .unsupportedGrantType, .unauthorizedClient])
    func tokenRefusals(code: Fault.Code) async throws {
        gateway.authentication.issueAccessToken.fail(with: Fault(code, "x"))
        let reply = try await gateway.post("/o/client/token", form: form, [:])
        #expect(reply.status == 400)
        #expect(reply.text == #"{"error":"\#(code.rawValue)"}"#)
    }

    @Test("rest-v1 #9: a repeated parameter is invalid_request, even with the same value")
    func repeated() async throws {
        #expect(try await gateway.post("/o/client/token", form: form + "&client_id=c1", [:]).json["error"] as? String == "invalid_request")
        #expect(try await gateway.post("/o/client/token?client_id=c1", form: form, [:]).status == 400)
    }

    @Test("rest-v1 #97: the parameters may stand in the query when there is no body")
    func inTheQuery() async throws {
        #expect(try await gateway.send(.post, "/o/client/token?\(form)", [.contentType: "application/json"]).status == 201)
    }

    @Test("clients #87: a registration in three spellings, a token in four; a scope that is asked for widens nothing")
    func spellings() async throws {
        for body in [
            #"{"software_statement":"a.b.c"}"#, #"{"software_statement":"a.b.c","redirect_uri":"https://acme.example/"}"#,
            #"{"software_statement":"a.b.c","grant_types":["client_credentials"],"token_endpoint_auth_method":"client_secret_post"}"#,
        ] {
            #expect(try await register(body).status == 201, "\(body)")
        }
        let json: HTTPFields = [.contentType: "application/json"]
        let typed: HTTPFields = [.contentType: "application/x-www-form-urlencoded; charset=utf-8"]
        for reply in [
            try await gateway.post("/o/client/token", form: form, [:]), try await gateway.send(.post, "/o/client/token", typed, body: form),
            try await gateway.send(.post, "/o/client/token?\(form)", [:]), try await gateway.send(.post, "/o/client/token?\(form)", json),
            try await gateway.post("/o/client/token", form: form + "&scope=decisions%3Aowner", [:]),
        ] {
            #expect(reply.status == 201 && reply.json["scope"] as? String == "api:client:v1 api:client:v2")
        }
        #expect(Set(gateway.authentication.issueAccessToken.requests.map(\.clientID)) == ["c1"])
    }

    @Test func twoWaysOfAuthenticationAreInvalid() async throws {
        let reply = try await gateway.post("/o/client/token", form: form, [.authorization: "Basic YzE6c2ho"])
        #expect(reply.json["error"] as? String == "invalid_request")
    }

    @Test func anAbsentServiceIsTemporary() async throws {
        gateway.authentication.issueAccessToken.fail(with: Fault(.unavailable, "x"))
        let reply = try await gateway.post("/o/client/token", form: form, [:])
        #expect(reply.status == 503)
        #expect(reply.json["error"] as? String == "temporarily_unavailable")
        #expect(reply.headers[.retryAfter] == "1")
        #expect(try await gateway.get("/o/client/token", [:]).status == 405)
    }
}
