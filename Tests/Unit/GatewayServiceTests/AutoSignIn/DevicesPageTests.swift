internal import Contracts
internal import Faults
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import Testing

/// The pages on which people see and end automatic sign-in.
@Suite struct DevicesPageTests {
    let gateway = TestGateway()
    private let cookie: HTTPFields = [.cookie: "a=b; __Host-devices=web"]
    private var token: String { FormToken(secret: "web").text }

    private static let family = TokenFamily(
        id: "f1", state: .active, bundleID: "example.acme.tv", environment: .production, deviceLabel: "Ada's <Apple> TV",
        createdAtMilliseconds: 1_709_164_800_000, lastUsedAtMilliseconds: 1_735_689_599_999,
        devices: [
            SignedInDevice(sessionID: "s1", label: "iPad", requestor: "ACME1", signedInAtMilliseconds: 1_709_251_200_000, expiresAtMilliseconds: 7)
        ])

    init() {
        gateway.autoSignIn.getOptInStatus.answer(
            with: OptInStatus(
                accountID: "a1", families: [Self.family, TokenFamily(id: "old", state: .revoked, deviceLabel: "Gone")], givenName: "Ada",
                requestor: "ACME1"))
        gateway.autoSignIn.revokeToken.answer(with: Revocation(revokedAtMilliseconds: 1))
        gateway.autoSignIn.revokeAll.answer(with: RevokedFamilies(familyIDs: ["f1"], endedSessions: 1))
        gateway.autoSignIn.endWebSession.answer(with: EndWebSessionResponse())
    }

    @Test func withoutASessionItOffersSignIn() async throws {
        let page = try await gateway.get("/devices", [:])
        #expect(page.status == 200 && page.isHTML && page.text.contains("No service here offers Sign in with Apple"))
        var configuration = DemoCatalogue.configuration
        configuration.programmers = [
            Programmer(
                id: "acme", name: "Acme",
                appleTeams: [AppleTeam(teamID: "T", signInKeyID: "K", groups: [AppleAppGroup(id: "g", servicesIDs: ["example.acme.web"])])])
        ]
        let offering = TestGateway(configuration: configuration)
        let text = try await offering.get("/devices", [:]).text
        #expect(
            text.contains(#"href="/apple/v1/ACME1/web?returnUrl=%2Fdevices""#) && text.contains("/apple/v1/ACME2/web") && !text.contains("/BRAVO/"))
        let one = try await offering.get("/devices?requestor=ACME2", [:]).text
        #expect(one.contains("/apple/v1/ACME2/web") && !one.contains("/apple/v1/ACME1/web"))
    }

    @Test func theListSaysWhatAndSinceWhen() async throws {
        let page = try await gateway.get("/devices", cookie)
        #expect(page.status == 200 && page.headers[.cacheControl] == "no-store")
        #expect(page.headers[.contentSecurityPolicy]?.contains("script-src") == false)
        #expect(page.headers[.contentSecurityPolicy]?.contains("form-action 'self'; frame-ancestors 'none'") == true)
        for text in [
            "Ada&#39;s &lt;Apple&gt; TV", "29 February 2024", "31 December 2024", "iPad", "since 1 March 2024", "example.acme.tv", "Acme One",
        ] {
            #expect(page.text.contains(text), "\(text)")
        }
        #expect(!page.text.contains("Gone") && page.text.contains(#"name="token" value="\#(token)""#))
        #expect(gateway.autoSignIn.getOptInStatus.requests == [GetOptInStatusRequest(caller: Caller(who: .webSession("web")))])
    }

    @Test func aDeviceThatHasNotFinishedIsSaidToBeOne() async throws {
        let hint = "This device has not finished turning it on."
        #expect(try await !gateway.get("/devices", cookie).text.contains(hint))
        let pending = TokenFamily(id: "f2", state: .pending, deviceLabel: "Attic")
        gateway.autoSignIn.getOptInStatus.answer(with: OptInStatus(accountID: "a1", families: [pending], givenName: "Ada", requestor: "ACME1"))
        #expect(try await gateway.get("/devices", cookie).text.contains(hint))
    }

    @Test func aSessionThatIsOverIsForgotten() async throws {
        gateway.autoSignIn.getOptInStatus.fail(with: Fault(.authenticationSessionMissing, "x"))
        let page = try await gateway.get("/devices", cookie)
        #expect(page.status == 200 && page.text.contains("Sign in with Apple"))
        #expect(page.headers[.setCookie] == "__Host-devices=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax")
        gateway.autoSignIn.getOptInStatus.fail(with: Fault(.unavailable, "x"))
        let away = try await gateway.get("/devices", cookie)
        #expect(away.status == 503 && away.headers[.setCookie] == nil, "an absent service ends no session")
    }

    @Test func aLinkIsSpentByItsButtonAndNotByLooking() async throws {
        gateway.autoSignIn.openWebLink.answer(with: WebSession(secret: "web", expiresInSeconds: 900, requestor: "ACME1"))
        let page = try await gateway.get("/devices/open/h1", [:])
        #expect(page.status == 200 && page.text.contains(#"name="handle" value="h1""#) && gateway.autoSignIn.openWebLink.requests.isEmpty)
        #expect(page.headers[.referrer] == "no-referrer")
        let opened = try await gateway.post("/devices/open", form: "handle=h1", [.secFetchSite: "same-origin", .origin: "null"])
        #expect(opened.status == 302 && opened.headers[.location] == "/devices")
        #expect(opened.headers[.setCookie] == "__Host-devices=web; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax")
        #expect(gateway.autoSignIn.openWebLink.requests == [OpenWebLinkRequest(handle: "h1")])
    }

    @Test func aUsedLinkIsSaidToBeOne() async throws {
        gateway.autoSignIn.openWebLink.fail(with: Fault(.stateInvalid, "x"))
        let reply = try await gateway.post("/devices/open", form: "handle=h", [:])
        #expect(reply.status == 400 && reply.text.contains("This link is used up"))
    }

    @Test func optingOutTurnsOffOneAndSaysWhatHappens() async throws {
        let reply = try await gateway.post("/devices/opt-out", form: "token=\(token)&family=f1", cookie)
        #expect(reply.status == 302 && reply.headers[.location] == "/devices?done=opted-out")
        let request = try #require(gateway.autoSignIn.revokeToken.requests.first)
        #expect(request.familyID == "f1" && request.reason == "opt_out" && request.caller == Caller(who: .webSession("web")))
        #expect(!request.idempotencyKey.isEmpty)
        let page = try await gateway.get("/devices?done=opted-out", cookie)
        #expect(page.text.contains("show the sign-in screen when the app is opened again"))
        gateway.autoSignIn.revokeToken.fail(with: Fault(.familyUnknown, "x"))
        let again = try await gateway.post("/devices/opt-out", form: "token=\(token)&family=f1", cookie)
        #expect(again.headers[.location] == "/devices?done=gone")
    }

    @Test func signsOutEverywhereAndHere() async throws {
        let everywhere = try await gateway.post("/devices/sign-out-everywhere", form: "token=\(token)", cookie)
        #expect(everywhere.headers[.location] == "/devices?done=signed-out-everywhere")
        let request = try #require(gateway.autoSignIn.revokeAll.requests.first)
        #expect(request.accountID.isEmpty && request.reason == "sign_out_everywhere" && request.caller == Caller(who: .webSession("web")))
        let here = try await gateway.post("/devices/sign-out", form: "token=\(token)", cookie)
        #expect(here.headers[.location] == "/devices?done=signed-out" && here.headers[.setCookie]?.hasPrefix("__Host-devices=; Max-Age=0") == true)
        #expect(gateway.autoSignIn.endWebSession.requests == [EndWebSessionRequest(webSession: "web")])
    }

    @Test(
        "A form of another site, without its token or without a session changes nothing",
        arguments: ["/devices/opt-out", "/devices/sign-out-everywhere", "/devices/sign-out"])
    func forgedForms(path: String) async throws {
        let forged: [(String, HTTPFields)] = [
            ("family=f1", cookie), ("token=&family=f1", cookie), ("token=x&family=f1", cookie), ("token=\(token)&family=f1", [:]),
            ("token=\(token)&family=f1", cookie.with(.secFetchSite, "cross-site")),
            ("token=\(token)&family=f1", cookie.with(.secFetchSite, "same-site")),
            ("token=\(token)&family=f1", cookie.with(.origin, "https://evil.example")), ("token=\(token)&family=f1", cookie.with(.origin, "null")),
            ("token=\(FormToken(secret: "other").text)&family=f1", cookie),
        ]
        for (form, headers) in forged {
            let reply = try await gateway.post(path, form: form, headers)
            #expect(reply.status == 400 && reply.isHTML && reply.headers[.setCookie] == nil, "\(form)")
        }
        #expect(gateway.autoSignIn.revokeToken.requests.isEmpty && gateway.autoSignIn.revokeAll.requests.isEmpty)
        #expect(gateway.autoSignIn.endWebSession.requests.isEmpty)
        #expect(try await gateway.get(path, cookie).status == 405)
    }

    @Test(arguments: [
        (UInt64(0), "1 January 1970"), (951_782_400_000, "29 February 2000"), (951_868_800_000, "1 March 2000"),
        (1_798_675_200_000, "31 December 2026"),
        (4_107_542_400_000, "1 March 2100"),
    ])
    func daysAreThoseOfTheCalendar(milliseconds: UInt64, day: String) throws {
        let languages = try Pages(folder: TestGateway.pages, publicOrigin: "https://tv.example").languages
        #expect(DeviceFamilyContent.date(milliseconds, languages.english) == day)
        let german = try #require(languages.best("de"))
        #expect(DeviceFamilyContent.date(951_868_800_000, german) == "1. März 2000")
    }
}
