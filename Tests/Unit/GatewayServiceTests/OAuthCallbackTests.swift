internal import Contracts
internal import Faults
internal import Hummingbird
internal import Testing

/// mvpd §3: the browser comes back from an OAuth provider.
@Suite struct OAuthCallbackTests {
    let gateway = TestGateway()
    private let callback = "/adobe-services/oauth2"
    private let state = "state-1234567890abcdef"

    init() {
        gateway.authentication.startSignIn.answer(
            with: SignInStart(
                url: "https://open.example/authorize?response_type=code&state=state-1234567890abcdef", browserSecret: "s3cret", expiresInSeconds: 900)
        )
    }

    @Test func theCookieIsTiedToTheState() async throws {
        let uri =
            "/api/v1/authenticate?reg_code=QK7M2XD&requestor_id=ACME1&mso_id=OpenFiber&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example%2F"
        let reply = try await gateway.get(uri, [:])
        #expect(reply.headers[.setCookie]?.hasPrefix("__Host-signin-state-1234567890=s3cret; Max-Age=900") == true)
    }

    @Test func theAnswerGoesToTheServiceAndTheBrowserBackToTheApp() async throws {
        gateway.authentication.completeOAuthSignIn.answer(with: SignInOutcome(result: .signedIn, redirectURL: "https://acme.example/done"))
        let reply = try await gateway.get(
            "\(callback)?code=abc%2B&state=\(state)&iss=https%3A%2F%2Fopen.example", [.cookie: "__Host-signin-state-1234567890=s3cret"])
        #expect(reply.status == 302 && reply.headers[.location] == "https://acme.example/done")
        #expect(reply.headers[.setCookie]?.hasPrefix("__Host-signin-state-1234567890=; Max-Age=0") == true)
        let request = try #require(gateway.authentication.completeOAuthSignIn.requests.first)
        #expect(request.code == "abc+" && request.state == state && request.issuer == "https://open.example" && request.browserSecret == "s3cret")
        #expect(!request.isEmbedded)
        _ = try await gateway.get("\(callback)?code=abc&state=\(state)", [.secFetchDest: "iframe"])
        #expect(gateway.authentication.completeOAuthSignIn.requests.last?.isEmbedded == true)
    }

    /// mvpd §3: each record has an address of its own; the service holds it against the sign-in's.
    @Test func theServiceIsToldAtWhichAddressTheAnswerCame() async throws {
        gateway.authentication.completeOAuthSignIn.answer(with: SignInOutcome(result: .rejected))
        for (path, place) in [("", ""), ("/OpenFiber", "OpenFiber"), ("/Open%46iber", "OpenFiber")] {
            _ = try await gateway.get("\(callback)\(path)?code=abc&state=\(state)", [:])
            #expect(gateway.authentication.completeOAuthSignIn.requests.last?.callback == place)
        }
        let count = gateway.authentication.completeOAuthSignIn.requests.count
        #expect(try await gateway.get("\(callback)/%FF?code=abc&state=\(state)", [:]).status == 400)
        #expect(try await gateway.get("\(callback)/a/b?code=abc&state=\(state)", [:]).status == 404)
        #expect(gateway.authentication.completeOAuthSignIn.requests.count == count)
    }

    @Test func aPersonWhoHasToBeAskedGoesOnWithANewCookie() async throws {
        let next = SignInStart(url: "https://open.example/authorize?state=other-234567890abcdef", browserSecret: "n3w", expiresInSeconds: 600)
        gateway.authentication.completeOAuthSignIn.answer(with: SignInOutcome(result: .continued, next: next))
        let reply = try await gateway.get("\(callback)?error=login_required&state=\(state)", [:])
        #expect(reply.status == 302 && reply.headers[.location] == next.url)
        let cookies = reply.headers[values: .setCookie]
        #expect(cookies.contains { $0.hasPrefix("__Host-signin-other-234567890a=n3w; Max-Age=600") })
        #expect(gateway.authentication.completeOAuthSignIn.requests.first?.error == "login_required")
    }

    @Test(
        "mvpd #91: exactly one state, and exactly one of code and error",
        arguments: [
            "", "code=a", "state=s", "state=s&code=", "state=s&code=a&code=a", "state=s&state=s&code=a", "state=s&code=a&error=access_denied",
            "state=s&code=a&iss=x&iss=x", "state=s&code=%FF",
        ])
    func otherShapes(query: String) async throws {
        let reply = try await gateway.get("\(callback)?\(query)", [:])
        #expect(reply.status == 400 && reply.isHTML && reply.headers[.location] == nil)
        #expect(gateway.authentication.completeOAuthSignIn.requests.isEmpty)
    }

    @Test func aRejectedAnswerIsANeutralPageAndAnAbsentProviderA503() async throws {
        gateway.authentication.completeOAuthSignIn.answer(with: SignInOutcome(result: .rejected, traceID: "feedfacefeedfacefeedfacefeedface"))
        let reply = try await gateway.get("\(callback)?code=a&state=s", [:])
        #expect(reply.status == 400 && reply.text.contains("feedfacefeedfacefeedfacefeedface"))
        gateway.authentication.completeOAuthSignIn.fail(with: Fault(.unavailable, "x", retryAfter: .seconds(5)))
        let away = try await gateway.get("\(callback)?code=a&state=s", [:])
        #expect(away.status == 503 && away.isHTML && away.headers[.retryAfter] == "5")
        #expect(try await gateway.post(callback, form: "code=a&state=s", [:]).status == 405)
    }
}
