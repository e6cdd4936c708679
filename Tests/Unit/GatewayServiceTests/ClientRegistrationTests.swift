internal import Contracts
internal import Faults
internal import Foundation
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
        #expect(reply.json["error"] as? String == "invalid_request" && reply.json["error_description"] != nil)
        #expect(gateway.authentication.registerClient.requests.isEmpty)
    }

    @Test(
        "rest-v1 #119, RFC 8259: what is no JSON to the letter registers nobody, and the place of the flaw is told",
        arguments: [
            #"{"software_statement":"a.b.c","x":[1,]}"#, #"{"software_statement":"a.b.c","x":-01}"#,
            "{\"software_statement\":\"a.b.c\",\"x\":\"\u{1}\"}",
            #"{"software_statement":"a.b.c","x":"\ud800"}"#, #"{"software_statement":"a.b.c",}"#, "\u{feff}{\"software_statement\":\"a.b.c\"}",
            #"{"software_statement":"a.b.c","x":1.}"#, #"{"software_statement":"a.b.c"} x"#, #"{"software_statement":"a.b.c","x":NaN}"#,
        ])
    func loose(body: String) async throws {
        let reply = try await register(body)
        #expect(reply.status == 400 && reply.json["error"] as? String == "invalid_request")
        #expect((reply.json["error_description"] as? String)?.hasPrefix("The body is not JSON: line 1, column ") == true, "\(reply.text)")
        #expect(gateway.authentication.registerClient.requests.isEmpty)
    }

    @Test(
        "RFC 7591 §3.2.2, RFC 6749 §5.2: a registration that is refused says what is wrong with it",
        arguments: [
            ("{}", "Required 'software_statement' is not present"), (#"{"software_statement":7}"#, "Member 'software_statement' must be a string"),
            ("[]", "The body must be a JSON object"), (#"{"software_statement":" \n"}"#, "Member 'software_statement' holds nothing but blanks"),
            (#"{"software_statement":"a","software_statement":"b"}"#, "Member 'software_statement' is present more than once"),
            (#"{"software_statement":"a.b.c","redirect_uri":[]}"#, "Member 'redirect_uri' must be a string"),
        ])
    func told(body: String, description: String) async throws {
        #expect(try await register(body).json["error_description"] as? String == description)
    }

    @Test(
        "RFC 7591 §3.1: the content type of a registration is JSON; another is refused with its name",
        arguments: [
            (String?("text/plain"), "and it is text/plain"), ("application/x-www-form-urlencoded", "and it is application/x-www-form-urlencoded"),
            (nil, "and none was sent"), (#"a"b\c/d"#, "and it is abc/d"),
        ])
    func anotherContentTypeIsInvalidRequest(type: String?, told: String) async throws {
        let reply = try await register(#"{"software_statement":"a.b.c"}"#, type: type)
        #expect(reply.status == 400 && reply.json["error"] as? String == "invalid_request")
        #expect(reply.json["error_description"] as? String == "The content type must be application/json, \(told)")
        #expect(gateway.authentication.registerClient.requests.isEmpty)
    }

    @Test("RFC 7515 §7.1: blanks and ends of lines round a statement, as files have them, are none of it", arguments: ["\\n", "\\r\\n", " ", "\\t"])
    func statementFromAFile(end: String) async throws {
        #expect(try await register(#"{"software_statement":"\#(end)a.b.c\#(end)"}"#).status == 201)
        #expect(gateway.authentication.registerClient.requests.map(\.softwareStatement) == ["a.b.c"])
    }

    @Test(
        "rest-v1 #3 #4 #5: the service's refusals keep their codes",
        arguments: [Fault.Code.invalidSoftwareStatement, .unapprovedSoftwareStatement, .invalidRedirectURI])
    func refusals(code: Fault.Code) async throws {
        gateway.authentication.registerClient.fail(with: Fault(code, "Not \"this\" one."))
        let reply = try await register(#"{"software_statement":"a.b.c"}"#)
        #expect(reply.status == 400)
        #expect(reply.text == #"{"error":"\#(code.rawValue)","error_description":"Not this one."}"#)
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
        #expect(reply.status == 400 && reply.headers[.wwwAuthenticate] == nil)
        #expect(reply.text == #"{"error":"\#(code.rawValue)","error_description":"x"}"#)
    }

    private static func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

    /// The pairs that the service was asked with.
    private var asked: [String] { gateway.authentication.issueAccessToken.requests.map { "\($0.clientID) \($0.clientSecret)" } }

    private func token(_ header: String?, _ form: String = "grant_type=client_credentials") async throws -> Reply {
        try await gateway.post("/o/client/token", form: form, header.map { [.authorization: $0] } ?? [:])
    }

    @Test(
        "rest-v1 #117, RFC 6749 §2.3.1: a client authenticates by HTTP Basic, id and secret form-encoded",
        arguments: [
            ("c1:shh", "c1 shh"), ("c%3A1:s%2Bh%25", "c:1 s+h%"), ("c1:s+h", "c1 s h"), ("c1:a:b", "c1 a:b"), ("c%C3%A9:%C3%BC", "cé ü"),
            ("c1:100%", "c1 100%"),
        ])
    func byBasic(pair: String, meant: String) async throws {
        for header in [Self.basic(pair), Self.basic(pair).replacing("Basic", with: "bAsIc"), Self.basic(pair).replacing("=", with: "")] {
            #expect(try await token(header).status == 201, "\(header)")
        }
        #expect(asked == [meant, meant, meant])
        #expect(try await gateway.send(.post, "/o/client/token?grant_type=client_credentials", [.authorization: Self.basic(pair)]).status == 201)
    }

    @Test("RFC 6749 §2.3.1, clients §2.1: where that is no client, id and secret are tried as they are, since imported ones may hold % and +")
    func byBasicAsItIs() async throws {
        gateway.authentication.issueAccessToken.answer { request, _ in
            guard request.clientID == "a+b%20c" else { throw Fault(.invalidClient, "x") }
            return AccessToken(id: "t1", accessToken: "a.b.c")
        }
        #expect(try await token(Self.basic("a+b%20c:s+")).status == 201)
        #expect(asked == ["a b c s ", "a+b%20c s+"])
        #expect(try await token(Self.basic("a+b%20c:s+"), "grant_type=client_credentials&client_id=a%2Bb%2520c").status == 201)
        #expect(asked.last == "a+b%20c s+")
    }

    @Test(
        "RFC 6749 §5.2: wrong credentials in the header are 401 with a challenge",
        arguments: ["c1:wrong", ":x", "c1:", ":", "", "c1", "c1:\u{0}", "!"])
    func byBasicRefused(pair: String) async throws {
        gateway.authentication.issueAccessToken.fail(with: Fault(.invalidClient, "x"))
        for header in [Self.basic(pair), "Basic \(pair)", "Basic"] {
            let reply = try await token(header)
            #expect(reply.status == 401 && reply.json["error"] as? String == "invalid_client", "\(header)")
            #expect(reply.headers[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true && reply.json["error_description"] != nil)
            #expect(reply.headers[.cacheControl] == "no-store")
        }
    }

    @Test("RFC 6749 §2.3: a request authenticates in one way; an id beside the header, without a secret, is no second one")
    func oneWay() async throws {
        let grant = "grant_type=client_credentials"
        #expect(try await token(Self.basic("c1:shh"), grant + "&client_id=c1").status == 201)
        #expect(try await token(Self.basic("c1:shh"), grant + "&client_id=c1&client_secret=").status == 201)
        for form in ["&client_secret=shh", "&client_id=c1&client_secret=shh", "&client_id=c2", "&client_id=c1&client_id=c1", "&client_id="] {
            let reply = try await token(Self.basic("c1:shh"), grant + form)
            #expect(reply.status == 400 && reply.json["error"] as? String == "invalid_request", "\(form)")
        }
        let digest = try await token("Digest username=c1", form)
        #expect(digest.status == 400 && digest.json["error"] as? String == "invalid_request")
        #expect(asked == ["c1 shh", "c1 shh"])
        let unknown = try await token("Digest username=c1")
        #expect(unknown.status == 401 && unknown.headers[.wwwAuthenticate]?.hasPrefix("Basic ") == true)
    }

    @Test("clients #87: a bearer says nothing at the token endpoint", arguments: ["Bearer a.b.c", "bearer x", "Bearer"])
    func aBearerIsIgnored(header: String) async throws {
        #expect(try await token(header, form).status == 201)
        gateway.authentication.issueAccessToken.fail(with: Fault(.invalidClient, "x"))
        #expect(try await token(header, form).status == 400)
    }

    @Test("RFC 6749 §5.2: a refused token request says what is missing, and which content type is wrong")
    func toldAtTheToken() async throws {
        #expect(try await token(nil, "client_id=c1").json["error_description"] as? String == "Required 'grant_type' is not present")
        #expect(try await token(nil).json["error_description"] as? String == "Required 'client_id' is not present")
        let json = try await gateway.send(.post, "/o/client/token", [.contentType: "application/json"], body: "{}")
        #expect(
            json.json["error_description"] as? String == "The content type must be application/x-www-form-urlencoded, and it is application/json")
    }

    @Test("an outage by Basic is no wrong secret")
    func anOutageIsNoRefusal() async throws {
        gateway.authentication.issueAccessToken.fail(with: Fault(.unavailable, "x"))
        let reply = try await token(Self.basic("c1:shh"))
        #expect(reply.status == 503 && reply.headers[.wwwAuthenticate] == nil && asked.count == 1)
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

    @Test("RFC 6749 §2.3: two ways of authentication are invalid")
    func twoWaysOfAuthenticationAreInvalid() async throws {
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
