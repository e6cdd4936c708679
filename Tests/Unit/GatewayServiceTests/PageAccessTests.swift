internal import Contracts
internal import Doubles
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import Testing

/// Which pages may read which answers (rest-v1 §2.1; Fetch §3.2).
@Suite struct PageAccessTests {
    private static let own = "https://www.acme.example"
    private static let other = "https://bravo.example"
    private static let strangers = [
        "https://evil.example", "https://acme.example.evil.example", "https://wwwacme.example", "http://acme.example", "null",
    ]
    private static let statement = #"{"software_statement":"a.b.c"}"#
    private static let credentials = "client_id=c1&client_secret=shh&grant_type=client_credentials"

    let gateway = TestGateway()

    init() {
        gateway.authentication.registerClient.answer(with: RegisteredClient(clientID: "c1", clientSecret: "shh", requestorIDs: ["ACME1", "ACME2"]))
        gateway.authentication.issueAccessToken.answer(with: AccessToken(id: "t1", accessToken: "a.b.c", requestorIDs: ["ACME1", "ACME2"]))
    }

    private static func mayRead(_ reply: Reply, _ origin: String) -> Bool {
        #expect(reply.headers[values: .vary].contains("Origin"), "Vary: Origin always")
        guard let allowed = reply.headers[.accessControlAllowOrigin] else { return false }
        #expect(allowed == origin && reply.headers[.accessControlAllowCredentials] == "true")
        return true
    }

    private func mayRead(_ origin: String, _ method: HTTPRequest.Method, _ uri: String, _ fields: HTTPFields, _ body: String? = nil) async throws
        -> Bool
    {
        Self.mayRead(try await gateway.send(method, uri, fields.with(.origin, origin), body: body), origin)
    }

    /// The ways in which calls name their requestor; each call of each route is made in all of them.
    private static let ways: [(name: String, query: String, fields: HTTPFields)] = [
        ("a bearer", "deviceId=d", TestGateway.device),
        ("a bearer and requestor", "deviceId=d&requestor=ACME1", TestGateway.device),
        ("a bearer and requestor_id", "deviceId=d&requestor_id=ACME1", TestGateway.device),
        ("a bearer in the address", "deviceId=d&access_token=good", [.accept: "application/json"]),
        (
            "a signature", "deviceId=d",
            [
                .authorization:
                    "GET requestor_id=ACME1, nonce=0b7c7c1e-6a4b-4a52-9d1b-000000000001, signature_method=HMAC-SHA1, request_time=1930384800000, request_uri=/x, public_key=abcdefgh, "
                    + "signature=AAAAAAAAAAAAAAAAAAAAAAAAAAA="
            ]
        ),
        ("nothing", "deviceId=d", [:]),
    ]

    /// Keys and metadata, which are everybody's.
    private static func isPublic(_ route: Route) -> Bool { if case .api(.metadata) = route.audience { true } else { false } }

    private static func path(_ route: Route) -> (text: String, namesRequestor: Bool) {
        var text = route.path
        let values = ["requestor": "ACME1", "serviceProvider": "ACME1", "mvpd": "NorthCable", "code": "QK7M2XD", "partner": "Apple"]
        for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
        let namesRequestor = text != route.path && (route.path.contains("{requestor}") || route.path.contains("{serviceProvider}"))
        return (text.replacing(/\{[a-z]+\*?\}/) { _ in "x" }, namesRequestor)
    }

    /// The gateway as a page's browser asks it.
    private struct Asked: Sendable {
        let client: any TestClientProtocol

        func send(_ method: HTTPRequest.Method, _ uri: String, from origin: String, _ fields: HTTPFields = [:]) async throws -> Reply {
            try await client.execute(uri: uri, method: method, headers: fields.with(.origin, origin), body: nil) { Reply($0) }
        }
    }

    /// - Returns: The sum of what is returned for each route whose answers pages may read.
    private func walk(_ visit: @Sendable (Route, Asked) async throws -> Int) async throws -> Int {
        var sum = 0
        for listenerKind in [ListenerKind.everybody, .administration] {
            let routes = try gateway.routes().filter { $0.audience.isReadableByPages && $0.audience.listenerKind == listenerKind }
            sum += try await gateway.exchange(at: listenerKind) { client in
                var sum = 0
                for route in routes { sum += try await visit(route, Asked(client: client)) }
                return sum
            }
        }
        return sum
    }

    @Test("rest-v1 #116, Fetch §4.8: every route answers the preflight of a registered page, whether or not its address names the requestor")
    func preflights() async throws {
        let looked = try await walk { route, gateway in
            let (path, namesRequestor) = Self.path(route)
            for uri in [path, path + "/"] {
                let reply = try await gateway.send(.options, uri, from: Self.own)
                #expect(reply.status == 204 && Self.mayRead(reply, Self.own), "\(uri)")
                let allowed = (reply.headers[.accessControlAllowHeaders] ?? "").split(separator: ",").map { $0.lowercased() }
                for name in ["authorization", "content-type", "x-device-info", "ap-device-identifier", "pass_sfp"] {
                    #expect(allowed.contains(name), "\(uri) \(name)")
                }
            }
            let reply = try await gateway.send(.options, path, from: Self.other)
            #expect(Self.mayRead(reply, Self.other) == !namesRequestor, "\(path)")
            for name in ["requestor", "requestor_id"] {
                let uri = "\(path)?\(name)=ACME1"
                let own = try await gateway.send(.options, uri, from: Self.own)
                let other = try await gateway.send(.options, uri, from: Self.other)
                #expect(Self.mayRead(own, Self.own) && Self.mayRead(other, Self.other) == !route.audience.isNamedARequestor, "\(uri)")
            }
            for stranger in Self.strangers {
                let reply = try await gateway.send(.options, path, from: stranger)
                #expect(!Self.mayRead(reply, stranger), "\(path) \(stranger)")
            }
            return 1
        }
        #expect(looked > 50)
    }

    @Test("rest-v1 #116: every answer of every route is the requestor's own page's to read, no success another's, and nothing a stranger's")
    func answers() async throws {
        let successes = try await walk { route, gateway in
            var successes = 0
            let path = Self.path(route).text
            for method in route.handlers.keys {
                for way in Self.ways {
                    let note = "\(method) \(path) by \(way.name)"
                    let uri = "\(path)?\(way.query)&resource=ACME1-NEWS"
                    let fields = method == .post ? way.fields.with(.contentType, "application/x-www-form-urlencoded") : way.fields
                    let reply = try await gateway.send(method, uri, from: Self.own, fields)
                    #expect(Self.mayRead(reply, Self.own), "\(note): \(reply.status)")
                    let another = try await gateway.send(method, uri, from: Self.other, fields)
                    if another.status < 400, way.name != "nothing", !Self.isPublic(route) {
                        successes += 1
                        #expect(!Self.mayRead(another, Self.other), "\(note): \(another.status)")
                    }
                    let strange = try await gateway.send(method, uri, from: Self.strangers[0], fields)
                    #expect(!Self.mayRead(strange, Self.strangers[0]), "\(note)")
                }
            }
            return successes
        }
        #expect(successes > 20)
    }

    @Test(
        "what a call was served for decides, not what a parameter says that nobody reads",
        arguments: [
            "/api/v1/checkauthn?deviceId=d", "/api/v1/checkauthn?deviceId=d&requestor_id=BRAVO", "/api/v1/checkauthn?deviceId=d&requestor=ACME1",
            "/api/v1/checkauthn?deviceId=d&requestor=ACME1&requestor_id=BRAVO", "/api/v1/checkauthn/QK7M2XD?requestor=ACME1&requestor_id=BRAVO",
        ])
    func served(uri: String) async throws {
        #expect(try await gateway.get(uri).status == 200)
        #expect(try await mayRead(Self.own, .get, uri, TestGateway.device))
        #expect(!(try await mayRead(Self.other, .get, uri, TestGateway.device)))
        // A refusal tells nothing of anybody: it is read by the rule of the preflight.
        gateway.authentication.getSession.fail(with: Fault(.authenticationSessionMissing, "x"))
        #expect(try await gateway.get("/api/v1/checkauthn?deviceId=d").status == 403)
        #expect(try await mayRead(Self.other, .get, "/api/v1/checkauthn?deviceId=d", TestGateway.device))
    }

    @Test("a form's requestor_id decides at the SDKs' calls, whatever the address names")
    func forms() async throws {
        let fields = TestGateway.device.with(.contentType, "application/x-www-form-urlencoded")
        let uri = "/adobe-services/session?requestor=BRAVO"
        let body = "requestor_id=ACME1&reg_code=QK7M2XD"
        #expect(try await gateway.send(.post, uri, fields, body: body).status == 200)
        #expect(try await mayRead(Self.own, .post, uri, fields, body))
        #expect(!(try await mayRead(Self.other, .post, uri, fields, body)))
    }

    @Test("RFC 7591 §3.2.1, RFC 6749 §5.1: a client that was registered, and its token, are read by pages of its application's requestors alone")
    func registration() async throws {
        let json: HTTPFields = [.contentType: "application/json"]
        for uri in ["/o/client/register", "/o/client/register?requestor=BRAVO", "/o/client/register?requestor_id=BRAVO"] {
            #expect(try await mayRead(Self.own, .post, uri, json, Self.statement))
            #expect(try await mayRead("https://acme-two.example", .post, uri, json, Self.statement))
            #expect(!(try await mayRead(Self.other, .post, uri, json, Self.statement)), "\(uri)")
        }
        #expect(try await mayRead(Self.other, .post, "/o/client/register", json, "{"), "a refusal")
        let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        let basic = form.with(.authorization, "Basic YzE6c2ho")
        let calls: [(String, HTTPFields, String?)] = [
            ("/o/client/token", form, Self.credentials), ("/o/client/token?\(Self.credentials)&requestor=BRAVO", [:], nil),
            ("/o/client/token", basic, "grant_type=client_credentials"),
        ]
        for (uri, fields, body) in calls {
            #expect(try await mayRead(Self.own, .post, uri, fields, body))
            #expect(!(try await mayRead(Self.other, .post, uri, fields, body)), "\(uri)")
        }
        gateway.authentication.issueAccessToken.fail(with: Fault(.invalidClient, "x"))
        let refused = try await gateway.send(.post, "/o/client/token", basic.with(.origin, Self.own), body: "grant_type=client_credentials")
        #expect(refused.status == 401 && Self.mayRead(refused, Self.own))
        let exposed = (refused.headers[.accessControlExposeHeaders] ?? "").split(separator: ",")
        for name in ["Adobe-Request-Id", "Retry-After", "WWW-Authenticate", "pass_sfp"] { #expect(exposed.contains { $0 == name }, "\(name)") }
    }

    @Test("clients §3: a device's id is read by pages of the bearer's requestors; without a bearer, by any registered page")
    func devices() async throws {
        let (uri, body) = ("/indiv/devices?requestor=BRAVO", #"{"fingerprint":"0123456789abcdef0123456789abcdef"}"#)
        for fields in [HTTPFields(), TestGateway.device] {
            #expect(try await mayRead(Self.own, .post, uri, fields, body))
            #expect(!(try await mayRead(Self.strangers[0], .post, uri, fields, body)))
        }
        #expect(try await mayRead(Self.other, .post, uri, [:], body))
        #expect(!(try await mayRead(Self.other, .post, uri, TestGateway.device, body)))
        // A token for v2 alone is the same bearer.
        gateway.authentication.verifyAccessToken.answer { request, _ in
            guard request.api == .v2 else { throw Fault(.insufficientScope, "x") }
            return VerifiedClient(clientID: "c1", requestorIDs: ["ACME1"])
        }
        #expect(try await mayRead(Self.own, .post, uri, TestGateway.device, body))
        #expect(!(try await mayRead(Self.other, .post, uri, TestGateway.device, body)))
    }

    @Test(
        "clients §4.15, #91: a page learns why it is refused, and when to ask again",
        arguments: [
            (400, "/api/v1/checkauthn?requestor=NOBODY&deviceId=d&access_token=good"), (401, "/api/v1/config/ACME1?access_token=bad"),
            (401, "/api/v1/checkauthn"),
            (404, "/api/v1/nowhere"), (404, "/o/client/nowhere"), (405, "/o/client/token"), (405, "/indiv/devices"),
        ])
    func refusals(status: Int, uri: String) async throws {
        let reply = try await gateway.get(uri, [.origin: Self.own])
        #expect(reply.status == status && Self.mayRead(reply, Self.own))
        #expect(!(try await mayRead(Self.strangers[0], .get, uri, [:])))
    }

    @Test("a page that asks too often, or too much, reads so")
    func throttled() async throws {
        let throttled = TestGateway(trusted: ["127.0.0.1"], throttle: ThrottleSettings(), clock: SetClock())
        let replies = try await throttled.exchange(over: .live) { client in
            var replies: [Reply] = []
            for _ in 0..<13 {
                replies.append(
                    try await client.execute(
                        uri: "/o/client/token", method: .post, headers: [.origin: Self.own, .forwardedFor: "203.0.113.9"], body: nil
                    ) { Reply($0) })
            }
            return replies
        }
        let refused = try #require(replies.first { $0.status == 429 })
        #expect(Self.mayRead(refused, Self.own) && refused.headers[.retryAfter] == "1")
        let large = try await gateway.send(.post, "/o/client/register", [.origin: Self.own], body: String(repeating: "x", count: 9000))
        #expect(large.status == 413 && Self.mayRead(large, Self.own))
        gateway.authentication.issueAccessToken.fail(with: Fault(.unavailable, "x"))
        let away = try await gateway.send(.post, "/o/client/token?\(Self.credentials)", [.origin: Self.own])
        #expect(away.status == 503 && Self.mayRead(away, Self.own) && away.headers[.retryAfter] != nil)
    }

    @Test("clients §4.15: an Origin changes no answer, only who may read it", arguments: strangers + [other, own, "nonsense"])
    func anOriginRefusesNobody(origin: String) async throws {
        let plain = try await gateway.get("/api/v1/checkauthn?deviceId=d")
        let reply = try await gateway.get("/api/v1/checkauthn?deviceId=d", TestGateway.device.with(.origin, origin))
        #expect(reply.status == plain.status && reply.text == plain.text)
    }
}
