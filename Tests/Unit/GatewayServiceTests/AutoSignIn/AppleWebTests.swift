internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Sign in with Apple in a browser (apple §2.1).
@Suite struct AppleWebTests {
    let gateway = TestGateway()
    private let state = "state-1234567890abcdef"
    private let cookie = "__Host-signin-state-1234567890"
    private let form = "state=state-1234567890abcdef&code=c&id_token=t&user=%7B%7D"

    private func callBack(_ form: String, secret: String? = "shh") async throws -> Reply {
        try await gateway.post("/apple/v1/callback", form: form, secret.map { [.cookie: "\(cookie)=\($0)"] } ?? [:])
    }

    @Test func goesToApplesPageAndTiesTheBrowser() async throws {
        gateway.signInWithApple.startWebSignIn.answer(
            with: WebSignInStart(url: "https://appleid.apple.com/auth/authorize?state=\(state)", browserSecret: "shh", expiresInSeconds: 600))
        let reply = try await gateway.get("/apple/v1/ACME1/web?returnUrl=%2Fdevices", [:])
        #expect(reply.status == 302 && reply.headers[.location] == "https://appleid.apple.com/auth/authorize?state=\(state)")
        #expect(reply.headers[.setCookie] == "\(cookie)=shh; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=None")
        #expect(gateway.signInWithApple.startWebSignIn.requests.first == StartWebSignInRequest(requestor: "ACME1", returnURL: "/devices"))
        #expect(try await gateway.get("/apple/v1/NOBODY/web", [:]).status == 400)
    }

    @Test("apple §2.1, mvpd §2.2: a browser that drops SameSite=None gets and loses its cookie without the attribute")
    func anOldBrowserGetsItsCookie() async throws {
        gateway.signInWithApple.startWebSignIn.answer(
            with: WebSignInStart(url: "https://appleid.apple.com/auth/authorize?state=\(state)", browserSecret: "shh", expiresInSeconds: 600))
        let begun = try await gateway.get("/apple/v1/ACME1/web", [.userAgent: SameSiteNoneTests.iOS12])
        #expect(begun.headers[.setCookie] == "\(cookie)=shh; Max-Age=600; Path=/; HttpOnly; Secure")
        gateway.signInWithApple.completeWebSignIn.answer(
            with: WebSignInOutcome(outcome: .cancelled(WebCancelled(returnURL: "https://acme.example/"))))
        let fields: HTTPFields = [.cookie: "\(cookie)=shh", .userAgent: SameSiteNoneTests.iOS12]
        #expect(
            try await gateway.post("/apple/v1/callback", form: form, fields).headers[.setCookie] == "\(cookie)=; Max-Age=0; Path=/; HttpOnly; Secure")
    }

    @Test func onLoopbackTheCookieWorksWithoutHttps() async throws {
        let gateway = TestGateway(insecureCookies: true, origin: "http://127.0.0.1:8080")
        gateway.signInWithApple.startWebSignIn.answer(
            with: WebSignInStart(url: "http://127.0.0.1:8091/appleid/auth/authorize?state=\(state)", browserSecret: "shh", expiresInSeconds: 600))
        let reply = try await gateway.get("/apple/v1/ACME1/web", [:])
        #expect(reply.headers[.setCookie] == "boxoffice-signin-state-1234567890=shh; Max-Age=600; Path=/; HttpOnly; SameSite=Lax")
    }

    @Test func applesAnswerEndsWhereTheBrowserBegan() async throws {
        gateway.signInWithApple.completeWebSignIn.answer(
            with: WebSignInOutcome(
                outcome: .signedIn(
                    WebSignedIn(session: WebSession(secret: "web", expiresInSeconds: 1800, requestor: "ACME1"), returnURL: "https://acme.example/"))))
        let reply = try await callBack(form)
        #expect(reply.status == 302 && reply.headers[.location] == "https://acme.example/")
        #expect(
            reply.headers[values: .setCookie] == [
                "\(cookie)=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=None",
                "__Host-devices=web; Max-Age=1800; Path=/; HttpOnly; Secure; SameSite=Lax",
            ])
        #expect(
            gateway.signInWithApple.completeWebSignIn.requests == [
                CompleteWebSignInRequest(state: state, code: "c", identityToken: "t", user: "{}", browserSecret: "shh")
            ])
    }

    @Test func whoeverCancelsIsBackWithoutASession() async throws {
        gateway.signInWithApple.completeWebSignIn.answer(with: WebSignInOutcome(outcome: .cancelled(WebCancelled(returnURL: "/devices"))))
        let reply = try await callBack("state=\(state)&error=user_cancelled_authorize")
        #expect(reply.status == 302 && reply.headers[.location] == "/devices" && reply.headers[values: .setCookie].count == 1)
    }

    @Test(
        "apple #78: an answer without its state, or of another shape, is a page and no exchange",
        arguments: [
            "code=c", "state=", "state=a&state=a&code=c", "state=a&code=c&code=c", "state=%FF&code=c", "state=a&id_token=1&id_token=2",
        ])
    func otherShapes(form: String) async throws {
        let reply = try await callBack(form)
        #expect(reply.status == 400 && reply.isHTML && reply.text.contains("Sign-in did not work"))
        #expect(gateway.signInWithApple.completeWebSignIn.requests.isEmpty)
        #expect(try await gateway.post("/apple/v1/callback?state=a", form: "code=c", [:]).status == 400)
    }

    @Test("apple #78: an answer for another browser is a page", arguments: [Fault.Code.stateInvalid, .appleTokenSignature, .appleGrantInvalid])
    func refused(code: Fault.Code) async throws {
        gateway.signInWithApple.completeWebSignIn.fail(with: Fault(code, "x"))
        let reply = try await callBack(form, secret: nil)
        #expect(reply.status == 400 && reply.isHTML && reply.headers[.location] == nil)
        #expect(gateway.signInWithApple.completeWebSignIn.requests.first?.browserSecret == "")
    }

    @Test func whenAppleIsAwayItMayBeTriedAgain() async throws {
        gateway.signInWithApple.completeWebSignIn.fail(with: Fault(.appleUnavailable, "x"))
        let reply = try await callBack(form)
        #expect(reply.status == 503 && reply.isHTML && reply.headers[.retryAfter] == "1")
    }

    @Test func aNewAccountIsMadeOnlyWhenThePersonSaysSo() async throws {
        gateway.signInWithApple.completeWebSignIn.answer(
            with: WebSignInOutcome(outcome: .ticket(TicketIssued(code: "confirmation_required", ticket: "tick", expiresAtMilliseconds: 9))))
        let page = try await callBack(form)
        #expect(page.status == 200 && page.text.contains("Make a new account?") && page.text.contains(#"name="ticket" value="tick""#))
        #expect(page.text.contains(#"name="state" value="state-1234567890""#) && page.headers[.setCookie] == nil)
        let policy = page.headers[.contentSecurityPolicy] ?? ""
        #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("form-action"), "the form may end at the requestor's")
        gateway.signInWithApple.completeWebSignIn.answer(
            with: WebSignInOutcome(outcome: .signedIn(WebSignedIn(session: WebSession(secret: "web", expiresInSeconds: 60)))))
        let made = try await gateway.post("/devices/account", form: "ticket=tick&state=state-1234567890", [.cookie: "\(cookie)=shh"])
        #expect(made.status == 302 && made.headers[.location] == "/devices" && made.headers[values: .setCookie].count == 2)
        let request = try #require(gateway.signInWithApple.completeWebSignIn.requests.last)
        #expect(request.ticket == "tick" && request.browserSecret == "shh" && request.state.isEmpty)
        let foreign = try await gateway.post("/devices/account", form: "ticket=tick&state=s", [.secFetchSite: "cross-site"])
        #expect(foreign.status == 400 && gateway.signInWithApple.completeWebSignIn.requests.count == 2)
    }

    @Test func anAccountThatExistsIsNotMergedOnThePage() async throws {
        gateway.signInWithApple.completeWebSignIn.answer(
            with: WebSignInOutcome(outcome: .ticket(TicketIssued(code: "account_exists", ticket: "tick", expiresAtMilliseconds: 9))))
        let page = try await callBack(form)
        #expect(page.status == 200 && page.text.contains("You have an account already") && !page.text.contains("tick"))
    }
}
