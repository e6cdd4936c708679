internal import Clocks
internal import Contracts
internal import Doubles
internal import Faults
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import ManualClocks
internal import OutboundHttp
internal import Testing

@Suite("Sign-in to the console by OpenID Connect") struct ConsoleProviderTests {
    let clock = ManualClock(Timestamp(seconds: 1_930_384_800))
    let staff: ScriptedStaff
    let console: ConsoleFixture

    init() {
        staff = ScriptedStaff(clock: clock)
        console = ConsoleFixture(provider: staff.provider())
    }

    /// A browser that has begun to sign in.
    private struct Begun {
        let state: String
        let cookie: String
    }

    private func begin(to target: String = "") async throws -> Begun {
        let reply = try await console.gateway.send(.get, "/console/sign-in/provider" + target, [:])
        try #require(reply.status == 303, "\(reply.text)")
        let cookie = try #require(reply.headers[.setCookie])
        return Begun(state: staff.visit(reply.location), cookie: String(cookie.prefix { $0 != ";" }))
    }

    private func finish(_ begun: Begun, _ query: String = "code=c1", state: String? = nil, cookie: String? = nil) async throws -> Reply {
        let cookie = cookie ?? begun.cookie
        let headers: HTTPFields = cookie.isEmpty ? [:] : [.cookie: cookie, .secFetchSite: "cross-site"]
        return try await console.gateway.send(.get, "/console/sign-in/return?\(query)&state=\(state ?? begun.state)", headers)
    }

    private func refusal(_ change: (inout ScriptedStaff.Script) -> Void) async throws -> String {
        staff.script.withLock { change(&$0) }
        let reply = try await finish(try await begin())
        #expect(reply.status == 403 && reply.isHTML && console.gateway.administration.openSession.requests.isEmpty)
        #expect(!reply.headers[values: .setCookie].contains { $0.contains(ConsoleFixture.secret) })
        return reply.text
    }

    @Test("an editor signs in, with role and programmers of the claims, and comes back where she began")
    func signsIn() async throws {
        let page = try await console.gateway.send(.get, "/console/sign-in?to=%2Fconsole%2Fhistory", [:])
        #expect(page.text.contains(#"href="/console/sign-in/provider?to=%2Fconsole%2Fhistory""#) && page.text.contains("Sign in with Example staff"))
        let asked = try await console.gateway.send(.get, "/console/sign-in/provider?to=%2Fconsole%2Fhistory", [:])
        let cookie = asked.headers[.setCookie] ?? ""
        #expect(cookie.hasPrefix("boxoffice-console-sign-in=") && cookie.hasSuffix("; Max-Age=600; Path=/; HttpOnly; SameSite=Lax"))
        #expect(asked.location.hasPrefix("https://staff.example/realm/authorize?response_type=code&client_id=console&"))
        #expect(asked.location.contains("redirect_uri=http%3A%2F%2Flocalhost%2Fconsole%2Fsign-in%2Freturn&scope=openid%20email&state="))
        #expect(asked.location.contains("&code_challenge_method=S256"))
        let reply = try await finish(Begun(state: staff.visit(asked.location), cookie: String(cookie.prefix { $0 != ";" })))
        #expect(reply.status == 200 && reply.text.contains(#"content="0; url=/console/history""#))
        let cookies = reply.headers[values: .setCookie]
        #expect(cookies.contains("boxoffice-console=\(ConsoleFixture.secret); Path=/; HttpOnly; SameSite=Strict"))
        #expect(cookies.contains { $0.hasPrefix("boxoffice-console-sign-in=; Max-Age=0") })
        let request = try #require(console.gateway.administration.openSession.requests.first)
        #expect(request.token.isEmpty)
        #expect(request.person == SignedInPerson(name: "mia@example.com", role: .editor, programmerIDs: ["acme"]))
        #expect(staff.form.contains("grant_type=authorization_code&code=c1&") && staff.authorization == "Basic Y29uc29sZTpzM2NyZXQ=")
    }

    @Test("tokens that fail a check open nothing, and the page says which")
    func refusesTokens() async throws {
        #expect(try await refusal { $0.nonce = "another" }.contains("idtoken.wrongNonce"))
        #expect(try await refusal { ($0.nonce, $0.issuer) = (nil, "https://staff.example/realm/") }.contains("idtoken.wrongIssuer"))
        #expect(try await refusal { ($0.issuer, $0.audience) = (ScriptedStaff.issuer, #""other""#) }.contains("idtoken.wrongAudience"))
        #expect(try await refusal { ($0.audience, $0.algorithm) = (#""console""#, .none) }.contains("idtoken.wrongAlgorithm"))
        #expect(try await refusal { $0.algorithm = .hs256 }.contains("idtoken.wrongAlgorithm"))
        #expect(try await refusal { ($0.algorithm, $0.issuedAgo) = (.rs256, 400) }.contains("idtoken.expired"))
        #expect(try await refusal { $0.issuedAgo = -400 }.contains("idtoken.notYetValid"))
        #expect(try await refusal { ($0.issuedAgo, $0.key) = (0, 1) }.contains("idtoken.unknownKey"))
    }

    @Test("a new key of the provider is looked for, at most once in half a minute")
    func followsKeys() async throws {
        _ = try await finish(try await begin())
        staff.script.withLock { ($0.key, $0.published) = (1, [1]) }
        #expect(try await finish(try await begin()).status == 200)
        staff.script.withLock { $0.key = 0 }
        for _ in 0..<3 { #expect(try await finish(try await begin()).status == 403) }
        #expect(staff.calls.filter { $0 == "jwks" }.count == 2)
        clock.advance(by: .seconds(31))
        staff.script.withLock { $0.published = [0, 1] }
        #expect(try await finish(try await begin()).status == 200)
        #expect(staff.calls.filter { $0 == "openid-configuration" }.count == 1)
    }

    @Test("state and cookie belong together, and serve once")
    func bindsTheBrowser() async throws {
        let (mine, other) = (try await begin(), try await begin())
        #expect(mine.state != other.state)
        for reply in [
            try await finish(mine, state: other.state), try await finish(mine, state: ""), try await finish(mine, cookie: ""),
            try await finish(mine, cookie: "boxoffice-console-sign-in=x.y"),
        ] { #expect(reply.status == 403 && reply.text.contains("begun in another browser")) }
        #expect(staff.calls.filter { $0 == "token" }.isEmpty)
        let again = try await begin()
        #expect(try await finish(again).status == 200)
        // The browser's back button, and the same address sent twice: the cookie is gone, and so is the code.
        #expect(try await finish(again, cookie: "").status == 403)
        staff.script.withLock { $0.broken["token"] = OutboundAnswer(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8)) }
        let twice = try await finish(again)
        #expect(twice.status == 403 && twice.text.contains("finished already"))
        #expect(console.gateway.administration.openSession.requests.count == 1)
    }

    @Test("an answer of another issuer, of an error, or without a code opens nothing")
    func refusesAnswers() async throws {
        #expect(try await finish(begin(), "code=c1&iss=https%3A%2F%2Fevil.example").text.contains("another issuer"))
        #expect(try await finish(begin(), "error=access_denied").text.contains("You cancelled the sign-in"))
        let misconfigured = try await finish(begin(), "error=%3Cb%3Einvalid_scope").text
        #expect(misconfigured.contains("has to set up the sign-in") && misconfigured.contains("binvalid_scope") && !misconfigured.contains("<b>"))
        #expect(try await finish(begin(), "x=y").text.contains("has no code"))
        #expect(staff.calls.filter { $0 == "token" }.isEmpty)
    }

    @Test(
        "a provider that hangs, sends HTML or is another one is a page that says so",
        arguments: [("openid-configuration", "start"), ("token", "return"), ("jwks", "return")])
    func meetsTrouble(endpoint: String, place: String) async throws {
        let attempt = { () async throws -> Reply in
            guard place == "return" else { return try await console.gateway.send(.get, "/console/sign-in/provider", [:]) }
            return try await finish(try await begin())
        }
        staff.script.withLock { $0.hanging = [endpoint] }
        let away = try await attempt()
        #expect(away.status == 503 && away.text.contains("There is no answer from"))
        let html = OutboundAnswer(status: 200, headers: [("content-type", "text/html")], body: Array("<html>Sign in</html>".utf8))
        staff.script.withLock { ($0.hanging, $0.broken) = ([], [endpoint: html]) }
        let reply = try await attempt()
        #expect(reply.status == 403 && reply.text.contains("is not accepted"))
        #expect(console.gateway.administration.openSession.requests.isEmpty)
    }

    @Test("the discovery document is the issuer's own, octet by octet, and leads to HTTPS alone")
    func checksDiscovery() async throws {
        staff.script.withLock { $0.discovered = ScriptedStaff.issuer + "/" }
        let other = try await console.gateway.send(.get, "/console/sign-in/provider", [:])
        #expect(other.status == 403 && other.text.contains("discovery.issuer"))
        staff.script.withLock { ($0.discovered, $0.tokenEndpoint) = (ScriptedStaff.issuer, "http://staff.example/token") }
        let plain = try await console.gateway.send(.get, "/console/sign-in/provider", [:])
        #expect(plain.status == 403 && plain.text.contains("discovery.token_endpoint"))
    }

    @Test("whoever has no mapped role or programmer learns which claim was missing")
    func refusesStrangers() async throws {
        #expect(try await refusal { $0.claims = "" }.contains("has no claim &#39;roles&#39;"))
        #expect(try await refusal { $0.claims = #","roles":["<canteen>"]"# }.contains("says &#39;&lt;canteen&gt;&#39;"))
        #expect(try await refusal { $0.claims = #","roles":"editors""# }.contains("has no claim &#39;programmers&#39;"))
        #expect(try await refusal { $0.claims = #","roles":["readers"],"programmers":[]"# }.contains("has no value"))
    }

    @Test("the highest role counts, an address that nobody verified names nobody, and claims may lie deeper")
    func mapsClaims() async throws {
        var settings = ScriptedStaff.settings
        func person(_ json: String) throws -> SignedInPerson {
            let claims = try #require(ProviderClaims(json: Array(json.utf8)))
            return try ProviderMapping(settings: settings).person(claims, subject: "user-1")
        }
        let boss = try person(#"{"roles":["readers","admins"],"email":"b@example.com","email_verified":"true"}"#)
        #expect(boss == SignedInPerson(name: "b@example.com", role: .operator))
        let both = try person(#"{"roles":["readers","editors"],"programmers":["bravo-staff","acme-staff"],"email":"b@example.com"}"#)
        #expect(both == SignedInPerson(name: "user-1", role: .editor, programmerIDs: ["bravo", "acme"]))
        settings.roleClaim = "realm_access.roles"
        #expect(try person(#"{"realm_access":{"roles":["admins"]}}"#).role == .operator)
        #expect(ProviderClaims(json: Array(#"{"roles":["admins"],"roles":[]}"#.utf8)) == nil)
    }

    @Test("two people whose claim says the same are two names, so that neither has the other's draft")
    func namesArePeoples() throws {
        var settings = ScriptedStaff.settings
        settings.nameClaim = "preferred_username"
        let claims = try #require(ProviderClaims(json: Array(#"{"roles":["admins"],"preferred_username":"mia"}"#.utf8)))
        let names = try ["user-1", "user-2"].map { try ProviderMapping(settings: settings).person(claims, subject: $0).name }
        #expect(names == ["mia (user-1)", "mia (user-2)"])
        let long = try #require(
            ProviderClaims(json: Array(#"{"roles":["admins"],"preferred_username":"\#(String(repeating: "m", count: 255))"}"#.utf8)))
        let name = try ProviderMapping(settings: settings).person(long, subject: "user-1").name
        #expect(name.count == 255 && name.hasSuffix(" (user-1)"))
    }

    @Test("config that does not trust the gateway, or knows the name, is told as a fault of the settings")
    func tellsAboutConfig() async throws {
        console.gateway.administration.openSession.fail(with: Fault(.accessDenied, "no"))
        let reply = try await finish(try await begin())
        #expect(reply.status == 403 && reply.text.contains("config.sessionCallers"))
    }

    @Test("a form that met an expired session waits while its sender signs in on another page")
    func resumesForms() async throws {
        let old: HTTPFields = [.cookie: "boxoffice-console=over", .secFetchSite: "same-origin"]
        let over = try await console.post("/integrations/ACME1/NorthCable/edit", "note=a%22b", old)
        #expect(over.text.contains(#"target="_blank""#) && over.text.contains(#"action="/console/sign-in/resume""#))
        let form = "to=%2Fconsole%2Fintegrations%2FACME1%2FNorthCable%2Fedit&carried.note=a%22b"
        let early = try await console.gateway.post("/console/sign-in/resume", form: form, old)
        #expect(early.status == 403 && early.text.contains(#"name="carried.note" value="a&quot;b""#))
        let reply = try await console.gateway.post("/console/sign-in/resume", form: form, ConsoleFixture.browser)
        #expect(reply.status == 200 && reply.text.contains("Nothing is lost") && reply.text.contains(#"name="note" value="a&quot;b""#))
        #expect(reply.text.contains(console.token))
    }

    @Test("whoever comes by another name goes to the one that the provider knows, once")
    func correctsTheName() async throws {
        var settings = ScriptedStaff.settings
        settings.origin = "https://admin.tv.example"
        let console = ConsoleFixture(provider: staff.provider(settings))
        let reply = try await console.gateway.send(.get, "/console/sign-in/provider?to=%2Fconsole%2Fdraft", [:])
        #expect(reply.location == "https://admin.tv.example/console/sign-in/provider?to=%2Fconsole%2Fdraft&at=1")
        let corrected = try await console.gateway.send(.get, "/console/sign-in/provider?at=1", [:])
        #expect(corrected.location.hasPrefix(ScriptedStaff.issuer))
    }

    @Test("without the setting there is no such sign-in")
    func isOffByDefault() async throws {
        let plain = ConsoleFixture()
        #expect(try await plain.gateway.send(.get, "/console/sign-in/provider", [:]).status == 404)
        #expect(try await !plain.gateway.send(.get, "/console/sign-in", [:]).text.contains("or with a token"))
    }
}
