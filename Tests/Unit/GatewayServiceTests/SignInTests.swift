internal import Contracts
internal import Faults
internal import Hummingbird
internal import Testing

@Suite struct SignInTests {
    let gateway = TestGateway()
    private let parameters = "requestor_id=ACME1&mso_id=NorthCable&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example%2Fdone"
    private var uri: String { "/api/v1/authenticate?reg_code=QK7M2XD&\(parameters)" }
    private let consumer = "/sp/saml/SAMLAssertionConsumer"

    @Test("mvpd §2.2: a browser that drops SameSite=None gets its cookie without, so that its answer is known again")
    func oldTelevision() async throws {
        let reply = try await gateway.get(uri, [.userAgent: SameSiteNoneTests.webOS4])
        #expect(reply.headers[.setCookie] == "__Host-signin-relay-1234567890=s3cret; Max-Age=900; Path=/; HttpOnly; Secure")
    }

    @Test("rest-v1 #39: authenticate with a live code redirects to the MVPD and binds the browser")
    func redirects() async throws {
        let reply = try await gateway.get(uri, [:])
        #expect(reply.status == 302)
        #expect(reply.headers[.location] == "https://idp.example/sso?SAMLRequest=x&RelayState=relay-1234567890abcdef")
        #expect(reply.headers[.setCookie] == "__Host-signin-relay-1234567890=s3cret; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=None")
        #expect(reply.headers[.referrer] == "no-referrer")
        let request = try #require(gateway.authentication.startSignIn.requests.first)
        #expect(request.registrationCode == "QK7M2XD" && request.redirectURL == "https://acme.example/done")
    }

    @Test("an MVPD's answer stands in the body of a POST; one in the address counts for nothing")
    func theAddressHoldsNoAnswer() async throws {
        for (query, form) in [
            ("SAMLResponse=PFJl", "RelayState=abc"), ("SAMLResponse=PFJl&RelayState=abc", ""),
            ("SAMLResponse=PFJl", "SAMLResponse=PFJl&RelayState=abc"),
        ] {
            let reply = try await gateway.post("\(consumer)?\(query)", form: form, [:])
            #expect(reply.status == 400, "\(query) \(form)")
        }
        #expect(gateway.authentication.completeSamlSignIn.requests.isEmpty)
        _ = try await gateway.post(consumer, form: "SAMLResponse=PFJl&RelayState=abc", [:])
        #expect(gateway.authentication.completeSamlSignIn.requests.map(\.samlResponse) == ["PFJl"])
    }

    @Test func onPlainHttpTheCookieHasAPlainName() async throws {
        let gateway = TestGateway(insecureCookies: true, origin: "http://127.0.0.1:8080")
        let cookie = try await gateway.get(uri, [:]).headers[.setCookie]
        #expect(cookie == "boxoffice-signin-relay-1234567890=s3cret; Max-Age=900; Path=/; HttpOnly; SameSite=Lax")
    }

    @Test func thePostBindingIsAFormThatWorksWithoutScript() async throws {
        gateway.authentication.startSignIn.answer(
            with: SignInStart(
                url: "https://idp.example/sso?a=1&b=2",
                fields: [FormField(name: "SAMLRequest", value: "PHNhbWw+\"<"), FormField(name: "RelayState", value: "abc")],
                browserSecret: "s3cret", expiresInSeconds: 60))
        let reply = try await gateway.get(uri, [:])
        #expect(reply.status == 200 && reply.isHTML)
        #expect(reply.text.contains(#"action="https://idp.example/sso?a=1&amp;b=2" method="post""#))
        #expect(reply.text.contains(#"name="SAMLRequest" value="PHNhbWw+&quot;&lt;""#))
        #expect(reply.text.contains(#"<button type="submit">"#))
        #expect(reply.headers[.setCookie]?.hasPrefix("__Host-signin-abc=s3cret") == true)
        #expect(reply.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
        #expect(reply.headers[.cacheControl] == "no-store")
    }

    @Test(
        "rest-v1 #40 #41 #42: refusals of authenticate are 400 and redirect nowhere",
        arguments: [Fault.Code.invalidRegistrationCode, .invalidDomain, .invalidRedirectURL, .unknownIntegration])
    func refusals(code: Fault.Code) async throws {
        gateway.authentication.startSignIn.fail(with: Fault(code, "x"))
        let reply = try await gateway.get(uri, [.accept: "application/json"])
        #expect(reply.status == 400)
        #expect(reply.headers[.location] == nil)
        #expect(reply.headers[.setCookie] == nil)
    }

    @Test("rest-v1 #43: reg_code may come first, and a mangled &reg is 400")
    func mangledParameter() async throws {
        #expect(try await gateway.get(uri, [:]).status == 302)
        for mangled in ["%C2%AE", "%AE"] {
            let uri = "/api/v1/authenticate?requestor_id=ACME1\(mangled)_code=QK7M2XD&mso_id=NorthCable&domain_name=d&redirect_url=r"
            #expect(try await gateway.get(uri, [:]).status == 400)
        }
    }

    @Test(arguments: ["mso_id", "reg_code", "domain_name", "redirect_url", "requestor_id"])
    func aMissingParameterIsNamed(name: String) async throws {
        let uri = uri.replacing("\(name)=", with: "x_\(name)=")
        let reply = try await gateway.get(uri, [.accept: "application/json"])
        #expect(reply.status == 400)
        #expect(reply.json["message"] as? String == "Required '\(name)' is not present")
    }

    @Test("rest-v1 #44 #103: after the MVPD's answer the browser goes back, signed in or not", arguments: [SignInResult.signedIn, .declined])
    func goesBack(result: SignInResult) async throws {
        gateway.authentication.completeSamlSignIn.answer(with: SignInOutcome(result: result, redirectURL: "https://acme.example/done"))
        let reply = try await gateway.post(
            consumer, form: "SAMLResponse=PHg%2B&RelayState=relay-1234567890abcdef", [.cookie: "a=b; __Host-signin-relay-1234567890=s3cret"])
        #expect(reply.status == 302)
        #expect(reply.headers[.location] == "https://acme.example/done")
        #expect(reply.headers[.setCookie]?.hasPrefix("__Host-signin-relay-1234567890=; Max-Age=0") == true)
        let request = try #require(gateway.authentication.completeSamlSignIn.requests.first)
        #expect(request.browserSecret == "s3cret" && request.samlResponse == "PHg+" && request.relayStatePresent)
    }

    @Test("clients #26: cookies that are not ours are nothing to a call, and nothing beside ours to the MVPD's answer")
    func foreignCookies() async throws {
        let foreign = "JSESSIONID=1; BIGipServerpool=2.3; ppc=4"
        let device = "/reggie/v1/ACME1/regcode?deviceId=d"
        let made = try await gateway.send(.post, device, TestGateway.device.with(.cookie, foreign))
        #expect(made.status == 201 && made.headers[.setCookie] == nil)
        #expect(try await gateway.send(.post, device).text == made.text)
        let cookies = try await gateway.get(uri, [.cookie: foreign]).headers[values: .setCookie]
        #expect(cookies.map { $0.prefix { $0 != ";" } } == ["__Host-signin-relay-1234567890=s3cret"], "ours is set, none is taken away")
        let form = "SAMLResponse=PHg%2B&RelayState=relay-1234567890abcdef"
        let reply = try await gateway.post(consumer, form: form, [.cookie: "\(foreign); __Host-signin-relay-1234567890=s3cret; ppc=5"])
        #expect(reply.status == 302 && reply.headers[values: .setCookie].count == 1)
        #expect(gateway.authentication.completeSamlSignIn.requests.last?.browserSecret == "s3cret")
    }

    @Test("rest-v1 #45 #103: a rejected answer is a neutral page with the trace")
    func rejected() async throws {
        gateway.authentication.completeSamlSignIn.answer(with: SignInOutcome(result: .rejected, traceID: "feedfacefeedfacefeedfacefeedface"))
        let reply = try await gateway.post(consumer, form: "SAMLResponse=PHg%2B", [:])
        #expect(reply.status == 400 && reply.isHTML)
        #expect(reply.text.contains("feedfacefeedfacefeedfacefeedface"))
        #expect(reply.headers[.location] == nil)
        #expect(gateway.authentication.completeSamlSignIn.requests.first?.relayStatePresent == false)
    }

    @Test("rest-v1 #46, mvpd #110: without a SAML message the consumer is 503, by whatever method")
    func noMessage() async throws {
        for method in [HTTPRequest.Method.get, .post, .put, .delete] {
            #expect(try await gateway.send(method, consumer, [:]).status == 503)
        }
        #expect(try await gateway.post(consumer, form: "RelayState=x&SAMLResponse=", [:]).status == 503)
        #expect(gateway.authentication.completeSamlSignIn.requests.isEmpty)
    }

    @Test(
        "mvpd §2.3 A.1: another shape of the message is rejected without asking",
        arguments: [
            "SAMLResponse=a&SAMLResponse=a", "SAMLResponse=a&RelayState=1&RelayState=1", "SAMLResponse=a&SAMLRequest=b", "SAMLResponse=a&Signature=b",
            "SAMLRequest=a", "SAMLResponse=%FF",
        ])
    func otherShapes(form: String) async throws {
        let reply = try await gateway.post(consumer, form: form, [:])
        #expect(reply.status == 400 && reply.isHTML)
        #expect(gateway.authentication.completeSamlSignIn.requests.isEmpty)
    }

    @Test func aMessageInTheQueryIsRejected() async throws {
        #expect(try await gateway.get(consumer + "?SAMLResponse=a", [:]).status == 400)
    }

    @Test func anOversizedAnswerIsOneMoreFailedCheck() async throws {
        let reply = try await gateway.post(consumer, form: "SAMLResponse=" + String(repeating: "A", count: 40_000), [:])
        #expect(reply.status == 400 && reply.isHTML)
    }

    @Test("rest-v1 #114: 20 posts in a row are all answered")
    func notThrottled() async throws {
        for _ in 0..<20 { #expect(try await gateway.post(consumer, form: "SAMLResponse=PHg%2B", [:]).status == 302) }
    }

    @Test func anAbsentServiceIsA503PageWithAdvice() async throws {
        gateway.authentication.completeSamlSignIn.fail(with: Fault(.unavailable, "x"))
        let reply = try await gateway.post(consumer, form: "SAMLResponse=PHg%2B", [:])
        #expect(reply.status == 503 && reply.isHTML)
        #expect(reply.headers[.retryAfter] == "1")
    }

    @Test func twoTabsKeepTheirOwnCookies() async throws {
        let first = try #require(try await gateway.get(uri, [:]).headers[.setCookie])
        gateway.authentication.startSignIn.answer(
            with: SignInStart(url: "https://idp.example/sso?RelayState=other-handle", browserSecret: "t", expiresInSeconds: 900))
        let second = try #require(try await gateway.get(uri, [:]).headers[.setCookie])
        #expect(first.prefix { $0 != "=" } != second.prefix { $0 != "=" })
    }

    @Test func abandonedSignInsAreForgotten() async throws {
        let old = (0..<8).map { "__Host-signin-old\($0)=x" }.joined(separator: "; ")
        let cookies = try await gateway.get(uri, [.cookie: old]).headers[values: .setCookie]
        #expect(cookies.count == 9)
        #expect(cookies.filter { $0.contains("Max-Age=0") }.count == 8)
    }
}
