internal import Contracts
internal import Faults
internal import Testing

@Suite struct ErrorTests {
    let gateway = TestGateway()

    @Test("rest-v1 #25: enhanced errors are off unless the requestor has them on")
    func enhanced() async throws {
        gateway.authentication.getSession.fail(with: Fault(.authenticationSessionMissing, "none"))
        let plain = try await gateway.get("/api/v1/checkauthn?requestor=ACME1&deviceId=d")
        #expect(Set(plain.json.keys) == ["status", "message", "details"])
        let enhanced = try await gateway.get("/api/v1/checkauthn?requestor=BRAVO&deviceId=d")
        #expect(Set(enhanced.json.keys) == ["action", "status", "code", "message", "helpUrl", "trace"])
        #expect(enhanced.json["code"] as? String == "authentication_session_missing")
        #expect(enhanced.json["action"] as? String == "authentication")
        #expect(enhanced.json["status"] as? Int == 403)
        #expect((enhanced.json["helpUrl"] as? String)?.hasPrefix("https://tv.example/help/errors#") == true)
        #expect((enhanced.json["trace"] as? String)?.count == 32)
    }

    @Test func enhancedErrorsAsXmlAreFlat() async throws {
        gateway.authorization.authorize.fail(with: Fault(.authorizationDeniedByMvpd, "no", details: "Not in <your> package"))
        let reply = try await gateway.get(
            "/api/v1/authorize?requestor=BRAVO&deviceId=d&resource=r", TestGateway.device.with(.accept, "application/xml"))
        #expect(reply.status == 403)
        #expect(reply.text.contains("<error><action>none</action><status>403</status><code>authorization_denied_by_mvpd</code>"))
        #expect(reply.text.contains("<details>Not in &lt;your&gt; package</details>"))
    }

    /// The table of rest-v1 §2.8.
    private static let table: [(Fault.Code, [Int])] = [
        (.authenticationSessionMissing, [403, 404, 403, 412, 403]), (.authenticationSessionExpired, [403, 410, 403, 412, 403]),
    ]

    @Test("rest-v1 #47 #48 #62: session states have their own status at each endpoint", arguments: table)
    func sessionStates(code: Fault.Code, statuses: [Int]) async throws {
        let fault = Fault(code, "x")
        gateway.authentication.getSession.fail(with: fault)
        gateway.authorization.authorize.fail(with: fault)
        gateway.authorization.getAuthorization.fail(with: fault)
        gateway.authorization.issueMediaToken.fail(with: fault)
        var seen: [Int] = []
        var codes: Set<String> = []
        for path in ["checkauthn", "tokens/authn", "authorize", "tokens/authz", "mediatoken"] {
            let reply = try await gateway.get("/api/v1/\(path)?requestor=BRAVO&deviceId=d&resource=r")
            seen.append(reply.status)
            codes.insert(reply.json["code"] as? String ?? "")
            if path == "tokens/authn" { #expect(reply.json["status"] as? Int == 412) }
        }
        #expect(seen == statuses)
        #expect(codes == [code.rawValue])
    }

    @Test("rest-v1 #63 #68 #112: authz states on tokens/authz and mediatoken", arguments: [Fault.Code.authorizationNotFound, .authorizationExpired])
    func authorizationStates(code: Fault.Code) async throws {
        gateway.authorization.getAuthorization.fail(with: Fault(code, "x"))
        gateway.authorization.issueMediaToken.fail(with: Fault(code, "x"))
        let authz = try await gateway.get("/api/v1/tokens/authz?requestor=BRAVO&deviceId=d&resource=r")
        #expect(authz.status == (code == .authorizationExpired ? 410 : 404))
        #expect(authz.json["code"] as? String == code.rawValue)
        let media = try await gateway.get("/api/v1/tokens/media?requestor=BRAVO&deviceId=d&resource=r")
        #expect(media.status == 403)
        #expect(media.json["code"] as? String == "authorization_not_found")
    }

    @Test("rest-v1 #47: an expired token has its documented text at checkauthn")
    func expiredText() async throws {
        gateway.authentication.getSession.fail(with: Fault(.authenticationSessionExpired, "x"))
        let reply = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)")
        #expect(reply.json["message"] as? String == "Authentication token expired")
    }

    @Test(
        "rest-v1 #47: checkauthn/{code} is 403 Forbidden in every other case",
        arguments: [
            Fault.Code.authenticationSessionMissing, .authenticationSessionExpired, .invalidRegistrationCode, .authenticationSessionInvalidated,
        ])
    func codeWithoutSession(code: Fault.Code) async throws {
        gateway.authentication.getSessionByCode.fail(with: Fault(code, "x"))
        let reply = try await gateway.get("/api/v1/checkauthn/QK7M2XD?requestor=ACME1", [.accept: "application/json"])
        #expect(reply.status == 403)
        #expect(reply.json["message"] as? String == "Forbidden")
    }

    @Test(
        "rest-v1 #51 #61 #64 #66: decisions and their codes",
        arguments: [
            (Fault.Code.unknownIntegration, 400, "configuration"), (.authorizationDeniedByMvpd, 403, "none"),
            (.malformedAuthzRequest, 400, "none"), (.networkConnectionTimeout, 403, "retry"),
            (.authenticationSessionIssuerMismatch, 400, "authentication"), (.authorizationDeniedByParentalControls, 403, "none"),
        ])
    func decisions(code: Fault.Code, status: Int, action: String) async throws {
        gateway.authorization.authorize.fail(with: Fault(code, "x", details: "why"))
        let reply = try await gateway.get("/api/v1/authorize?requestor=BRAVO&deviceId=d&resource=r")
        #expect(reply.status == status)
        #expect(reply.json["code"] as? String == code.rawValue)
        #expect(reply.json["action"] as? String == action)
        #expect(reply.json["details"] as? String == "why")
    }

    @Test(arguments: [Fault.Code.unavailable, .upstreamUnavailable, .overloaded, .deadlineExceeded, .storageFull])
    func dependenciesThatAreAwayAre503(code: Fault.Code) async throws {
        gateway.authentication.getSession.fail(with: Fault(code, "secret text"))
        let reply = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)")
        #expect(reply.status == 503)
        #expect(reply.headers[.retryAfter] == "1")
        #expect(!reply.text.contains("secret"))
    }

    @Test(
        "rest-v1 §2.7: a play that asks for too many media tokens is told so like any other caller that asks too often",
        arguments: ["ACME1", "BRAVO"])
    func tooManyMediaTokensAre429(requestor: String) async throws {
        gateway.authorization.issueMediaToken.fail(with: Fault(.tooManyRequests, "x", retryAfter: .milliseconds(1500)))
        let reply = try await gateway.get("/api/v1/mediatoken?requestor=\(requestor)&deviceId=d&resource=r")
        #expect(reply.status == 429)
        #expect(reply.headers[.retryAfter] == "2")
        #expect(reply.headers[.contentType] == "text/html" && reply.text == "429 Too Many Requests")
    }

    @Test func unexpectedFaultsTellNothing() async throws {
        struct Leak: Error { let secret = "stack trace" }
        gateway.authentication.getSession.answer { _, _ in throw Leak() }
        let reply = try await gateway.get("/api/v1/checkauthn?requestor=BRAVO&deviceId=d")
        #expect(reply.status == 500)
        #expect(reply.json["code"] as? String == "internal_error")
        #expect(!reply.text.contains("stack"))
    }

    @Test func beforeTheFirstCatalogueEverythingIs503() async throws {
        let gateway = TestGateway(configuration: nil)
        #expect(try await gateway.get("/api/v1/config/ACME1", [:]).status == 503)
        #expect(try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)").status == 503)
    }
}
