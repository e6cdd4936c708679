internal import Contracts
internal import Faults
internal import Hummingbird
internal import Testing

@Suite struct RouteTests {
    let gateway = TestGateway()

    @Test("rest-v1 #22: POST on authorize is 405 with Allow")
    func methodNotAllowed() async throws {
        let reply = try await gateway.send(.post, "/api/v1/authorize?requestor=BRAVO")
        #expect(reply.status == 405)
        #expect(reply.headers[.allow] == "GET, OPTIONS")
        #expect(reply.json["code"] as? String == "internal_error")
        #expect(reply.json["status"] as? Int == 405)
    }

    @Test(arguments: ["PUT", "TRACE", "PATCH"])
    func anyOtherMethodIs405(name: String) async throws {
        let method = try #require(HTTPRequest.Method(rawValue: name))
        let reply = try await gateway.send(method, "/api/v1/checkauthn")
        #expect(reply.status == 405 && reply.headers[.allow] == "GET, HEAD, OPTIONS")
    }

    @Test("a method that the gateway does not know is 501 at any address", arguments: ["PROPFIND", "M-SEARCH", "CONNECT"])
    func unknownMethodsAre501(name: String) async throws {
        let method = try #require(HTTPRequest.Method(rawValue: name))
        for path in ["/api/v1/checkauthn", "/nowhere", "/activate"] {
            let reply = try await gateway.send(method, path)
            #expect(reply.status == 501 && reply.json["message"] as? String == "Not Implemented", "\(path)")
        }
        #expect(gateway.authentication.getSession.requests.isEmpty)
    }

    @Test(arguments: ["/api/v1/checkauthn", "/api/v1/checkauthn.json", "/api/v1/checkauthn.xml"])
    func suffixesDoNotCount(path: String) async throws {
        #expect(try await gateway.get("\(path)?\(TestGateway.deviceQuery)").status == 200)
        #expect(gateway.authentication.getSession.requests.count == 1)
    }

    @Test(
        "a path that can be read in two ways is refused in its neighbours' form, and nothing is asked",
        arguments: [
            "//api/v1/checkauthn", "/api//v1/checkauthn", "/api/v1//checkauthn", "/api/v1/checkauthn//", "/api/./v1/checkauthn",
            "/api/v1/x/../checkauthn",
            "/api/v1/%2e%2e/v1/checkauthn", "/api/v1/%2E/checkauthn", "/api%2fv1/checkauthn", "/api/v1%5Ccheckauthn", "/api/v1\\checkauthn",
            "/api/v1/checkauthn/%00", "/api/v1/checkauthn/%0a", "/api/v1/config/..", "/api/v1/config/%2e%2E", "/api/v1/config/a%2Fb",
            "/api/v1/checkauthn" + String(repeating: "/x", count: 5000),
        ])
    func ambiguousPathsAreRefused(path: String) async throws {
        let reply = try await gateway.get("\(path)?\(TestGateway.deviceQuery)")
        #expect(reply.status == 404)
        #expect(reply.headers[.location] == nil)
        #expect(gateway.authentication.getSession.requests.isEmpty)
    }

    @Test func ambiguousPathsKeepTheirNeighboursForm() async throws {
        #expect(try await gateway.get("/api/v1//checkauthn").text == #"{"status":404,"message":"Not Found","details":null}"#)
        #expect(try await gateway.get("/admin/v1//draft").failure["code"] as? String == "not_found")
        #expect(try await gateway.get("/auto-signin/v1//status").json["code"] != nil)
        #expect(try await gateway.get("/activate//done", [:]).isHTML)
        #expect(try await gateway.get("///evil.example/activate", [:]).status == 404)
        #expect(try await gateway.send(.options, "/api/v1//checkauthn", [:]).status == 204)
    }

    @Test(
        "one slash at the end leads to the route's own path, the query as it was",
        arguments: [
            ("/activate/?code=a%20b&x=//evil.example", "/activate?code=a%20b&x=//evil.example"), ("/api/v1/config/ACME1/", "/api/v1/config/ACME1"),
            ("/api/v1/checkauthn/QK7M2XD/?requestor=ACME1", "/api/v1/checkauthn/QK7M2XD?requestor=ACME1"),
        ])
    func aSlashAtTheEndIsRedirected(path: String, location: String) async throws {
        let reply = try await gateway.get(path, [:])
        #expect(reply.status == 308)
        #expect(reply.headers[.location] == location)
    }

    @Test func unknownAddressesAre404InTheCallersLanguage() async throws {
        let api = try await gateway.get("/api/v1/identities")
        #expect(api.status == 404)
        #expect(api.text == #"{"status":404,"message":"Not Found","details":null}"#)
        let page = try await gateway.get("/nowhere", [:])
        #expect(page.status == 404 && page.isHTML)
    }

    @Test("rest-v1 #115: a preflight from a registered domain names it, a foreign one gets no allow header")
    func preflight() async throws {
        let uri = "/api/v1/checkauthn/QK7M2XD?requestor=ACME1"
        let own = try await gateway.send(.options, uri, [.origin: "https://login.acme.example"])
        #expect(own.status == 204)
        #expect(own.headers[.accessControlAllowOrigin] == "https://login.acme.example")
        #expect(own.headers[.accessControlAllowMethods] == "POST,GET,OPTIONS,DELETE")
        #expect(own.headers[.accessControlAllowCredentials] == "true")
        #expect(own.headers[.accessControlAllowHeaders]?.contains("X-Device-Info") == true)
        for origin in ["https://evil.example", "https://notacme.example", "null", "https://acme.example.evil.example"] {
            let foreign = try await gateway.send(.options, uri, [.origin: origin])
            #expect(foreign.status == 204)
            #expect(foreign.headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test func repliesAndRefusalsToRegisteredOriginsCanBeRead() async throws {
        let good = try await gateway.get("/api/v1/config/ACME1", [.origin: "https://acme.example"])
        #expect(good.headers[.accessControlAllowOrigin] == "https://acme.example")
        gateway.authentication.getSessionByCode.fail(with: Fault(.authenticationSessionMissing, "none"))
        let bad = try await gateway.get("/api/v1/checkauthn/QK7M2XD?requestor=ACME1", [.origin: "https://acme.example"])
        #expect(bad.status == 403)
        #expect(bad.headers[.accessControlAllowOrigin] == "https://acme.example")
    }

    @Test func bodiesOverTheLimitAreRefused() async throws {
        let reply = try await gateway.post("/o/client/token", form: String(repeating: "a", count: 9000), [:])
        #expect(reply.status == 413)
        #expect(reply.json["error"] as? String == "invalid_request")
    }

    @Test func publicDocumentsHaveTheirTypes() async throws {
        let pem = try await gateway.get("/.well-known/media-token-certificates", [:])
        #expect(pem.status == 200 && pem.headers[.contentType] == "application/x-pem-file" && pem.text.hasPrefix("-----BEGIN"))
        let keys = try await gateway.get("/.well-known/media-token-jwks", [:])
        #expect(keys.text == #"{"keys":[]}"#)
        let metadata = try await gateway.get("/sp/metadata?requestor=ACME1", [:])
        #expect(metadata.headers[.contentType] == "application/samlmetadata+xml")
        #expect(gateway.authentication.getServiceProviderMetadata.requests.map(\.requestor) == ["ACME1"])
        #expect(try await gateway.get("/healthz", [:]).text == "ok\n")
    }

    @Test func loadBalancersLearnWhetherToSendRequests() async throws {
        let ready = try await gateway.get("/readyz", [:])
        #expect(ready.status == 200 && ready.text == "ready\n" && ready.headers[.cacheControl] == "no-store")
        let stopping = TestGateway(isReady: false)
        let refused = try await stopping.get("/readyz", [:])
        #expect(refused.status == 503 && refused.text == "not ready\n")
        #expect(try await stopping.get("/healthz", [:]).status == 200)
    }

    @Test func callsOfOneDeviceAndRequestorShareAnAffinity() async throws {
        for _ in 0..<2 { _ = try await gateway.get("/api/v1/authorize?\(TestGateway.deviceQuery)&resource=ACME1-NEWS") }
        _ = try await gateway.get("/api/v1/mediatoken?\(TestGateway.deviceQuery)&resource=ACME1-NEWS")
        _ = try await gateway.get("/api/v1/authorize?requestor=ACME1&deviceId=other&resource=ACME1-NEWS")
        let affinities = gateway.authorization.authorize.contexts.map(\.affinity)
        #expect(affinities.count == 3 && affinities[0] != nil && affinities[0] == affinities[1] && affinities[0] != affinities[2])
        #expect(gateway.authorization.issueMediaToken.contexts.first?.affinity == affinities[0])
        #expect(gateway.authentication.getSession.contexts.allSatisfy { $0.affinity == nil })
    }
}
