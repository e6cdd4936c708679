@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

@Suite("client-sdk: login in a browser, by a code, by a trial")
@MainActor
struct LoginTests {
    static let end = URL(string: "adobepass://ios.app")!
    static let yes = "setAuthenticationStatus(1,)"
    static let failed = "setAuthenticationStatus(0,GENERIC_AUTHENTICATION_ERROR)"
    static let gaveUp = "setAuthenticationStatus(0,PROVIDER_NOT_SELECTED_ERROR)"

    /// A phone on which the person has chosen `plain` and its page is open.
    private func pageOpened(
        _ provider: String = "plain", rest: RestVersion = .v1, _ change: (inout ClientEnvironment) -> Void = { _ in }
    ) async throws -> TestApp {
        let app = TestApp(.iOS, rest: rest, change: change)
        try await app.configure()
        app.forget()
        try await app.until("navigateToUrl") { app.enabler.setSelectedProvider(provider) }
        return app
    }

    @Test("client-sdk #46: handleExternalURL twice is one AUN", arguments: RestVersion.allCases)
    func takesReturnOnce(rest: RestVersion) async throws {
        let app = try await pageOpened(rest: rest)
        app.server.signIn("plain")
        try await app.until(Self.yes) {
            app.enabler.handleExternalURL(Self.end)
            app.enabler.handleExternalURL(Self.end)
        }
        app.enabler.handleExternalURL(Self.end)
        await app.settle()
        #expect(app.server.business == [.RGC, .AUN, .META].said(in: rest))
        #expect(app.visible == ["navigateToUrl", Self.yes])
    }

    @Test(
        "client-sdk #47: an address that is not the return address is ignored",
        arguments: ["other://ios.app", "adobepass://android.app", "https://ios.app"], RestVersion.allCases)
    func ignoresForeignAddress(address: String, rest: RestVersion) async throws {
        let app = try await pageOpened(rest: rest)
        app.enabler.handleExternalURL(try #require(URL(string: address)))
        await app.settle()
        #expect(app.server.business == [.RGC])
        app.server.signIn("plain")
        try await app.until(Self.yes) { app.enabler.handleExternalURL(Self.end) }
    }

    @Test(
        "client-sdk #48: Safari's view controller only with handleSVC and an MVPD that requires it", arguments: [true, false],
        ["safari", "plain"])
    func choosesBrowser(handles: Bool, provider: String) async throws {
        let app = TestApp(.iOS) { $0.safariReturnAddress = "adbe.u5f2://adobe.com" }
        app.enabler.setOptions(["handleSVC": .bool(handles)])
        try await app.configure()
        try await app.until("navigateToUrl") { app.enabler.setSelectedProvider(provider) }
        #expect(app.visible.last == (handles && provider == "safari" ? "navigateToUrl:useSVC:" : "navigateToUrl"))
        let isSafari = provider == "safari"
        #expect(
            app.pages[0].absoluteString.hasSuffix(isSafari ? "redirect_url=adbe.u5f2%3A%2F%2Fadobe.com" : "redirect_url=adobepass%3A%2F%2Fios.app"))
        app.server.signIn(provider)
        try await app.until(Self.yes) { app.enabler.handleExternalURL(URL(string: isSafari ? "adbe.u5f2://adobe.com" : "adobepass://ios.app")!) }
    }

    @Test("client-sdk #74: the LOG query begins with reg_code and ends with redirect_url")
    func ordersQuery() async throws {
        let app = try await pageOpened()
        let query = try #require(URLComponents(url: app.pages[0], resolvingAgainstBaseURL: false)?.percentEncodedQuery)
        #expect(
            query
                == "reg_code=QK7M2XD&requestor_id=ACME1&mso_id=plain&domain_name=acme.example&noflash=true&no_iframe=true&redirect_url=adobepass%3A%2F%2Fios.app"
        )
        #expect(!app.pages[0].absoluteString.contains("token-"), "no token in the address")
    }

    @Test("closing the page is giving up", arguments: RestVersion.allCases)
    func givesUpAtPage(rest: RestVersion) async throws {
        let app = try await pageOpened(rest: rest)
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider(nil) } == ["status(N005)", Self.gaveUp])
        #expect(app.server.business == [.RGC])
    }

    @Test("client-sdk #49: on tvOS REGCODE, then polls no faster than 3 s, and none after success", arguments: RestVersion.allCases)
    func polls(rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        app.forget()
        app.clock.whenSleeping { [server = app.server] count in if count == 4 { server.signIn("plain") } }
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") } == ["status(REGCODE)", Self.yes])
        #expect(app.statuses[0]["code"] == "QK7M2XD" && app.statuses[0]["level"] == "success")
        #expect(app.clock.sleeps == Array(repeating: .seconds(5), count: 4))
        #expect(app.server.business == [.RGC, .AUN, .AUN, .AUN, .AUN, .META].said(in: rest))
    }

    @Test("client-sdk #49: an interval below 3 s becomes 3 s")
    func boundsInterval() {
        var environment = ClientEnvironment(
            server: URL(string: "https://tv.example")!, device: DeviceDescription(platform: .tvOS, model: "", systemVersion: "", id: "d"),
            store: MemoryStore())
        environment.pollInterval = .seconds(1)
        #expect(environment.pollInterval == .seconds(3))
    }

    @Test("client-sdk #50: a code that ends unused ends the polling, N130 and GENERIC", arguments: [1800.0, 17], RestVersion.allCases)
    func endsWithCode(lifetime: Double, rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        app.server.change { $0.codeLifetime = lifetime }
        try await app.configure()
        app.forget()
        // A clock that is set meanwhile makes the code neither longer nor shorter.
        app.clock.whenSleeping { [clock = app.clock] count in if count == 1 { clock.setAhead(-86_400) } }
        #expect(
            try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") }
                == ["status(REGCODE)", "status(N130)", Self.failed])
        #expect(app.server.calls(.AUN).count == Int((lifetime - 1) / 5))
        #expect(app.clock.sleeps.reduce(.zero, +) == .seconds(lifetime))
    }

    @Test(
        "a disturbed server is asked more and more seldom, a 429 storm too",
        arguments: [FakeServer.Answer.status(429), .status(503), .unreachable, .captivePortal], RestVersion.allCases)
    func backsOff(answer: FakeServer.Answer, rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        app.forget()
        app.server.next(.AUN, answer, answer, answer, answer, answer)
        app.clock.whenSleeping { [server = app.server] _ in if server.calls(.AUN).count == 5 { server.signIn("plain") } }
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") } == ["status(REGCODE)", Self.yes])
        let pauses = app.clock.sleeps.filter { $0 > .seconds(1) }
        #expect(pauses == [.seconds(5), .seconds(10), .seconds(20), .seconds(30), .seconds(30), .seconds(30)])
    }

    @Test("Retry-After is kept, up to 30 s", arguments: [("7", 7), ("0", 1), ("86400", 30), ("soon", 1)], RestVersion.allCases)
    func keepsRetryAfter(pause: (header: String, seconds: Int), rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.signInOrdinarily()
        let slept = app.clock.sleeps.count
        app.server.next(.AUZ, .response(HTTPResponse(status: 429, headers: [HTTPHeader("Retry-After", pause.header)])))
        try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.clock.sleeps.dropFirst(slept).first == .seconds(pause.seconds))
    }

    @Test("client-sdk #51: after setSelectedProvider(nil) while polling there is no further request", arguments: RestVersion.allCases)
    func stopsPolling(rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        app.forget()
        app.clock.whenSleeping { [enabler = app.enabler] count in
            if count == 3 { Task { @MainActor in enabler.setSelectedProvider(nil) } }
        }
        app.server.change { $0.codeLifetime = 36_000 }
        let callbacks = try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") }
        #expect(callbacks == ["status(REGCODE)", "status(N005)", Self.gaveUp])
        let asked = app.server.calls.count
        await app.settle()
        #expect(app.server.calls.count == asked)
    }

    @Test("another choice while polling goes on with it: one end", arguments: RestVersion.allCases)
    func changesProvider(rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        app.forget()
        app.server.change { $0.codeLifetime = 36_000 }
        app.clock.whenSleeping { [app] count in
            if count == 2 { Task { @MainActor in app.enabler.setSelectedProvider("trial") } }
        }
        app.whenDisplayed = { $0.enabler.setSelectedProvider("plain") }
        #expect(try await app.signIn() == ["displayProviderDialog", "status(REGCODE)", Self.yes])
        #expect(app.server.calls(rest == .v1 ? .TMP : .META).count == 1)
    }

    @Test(
        "client-sdk #52: RGC failing is REG500",
        arguments: [FakeServer.Answer.status(400), .status(429), .status(500), .unreachable, .captivePortal], RestVersion.allCases)
    func namesMissingCode(answer: FakeServer.Answer, rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        app.server.always(.RGC, answer)
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") } == ["status(REG500)", Self.failed])
    }

    @Test("client-sdk #53: a TempPass selected gives (1,\"\") without getAuthentication", arguments: RestVersion.allCases)
    func startsTrial(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        app.forget()
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("trial") } == [Self.yes])
        #expect(app.server.business == [.TMP, .AUN].said(in: rest))
        #expect(try await app.check() == ["status(N011)", Self.yes])
        app.clock.advance(601)
        app.forget()
        #expect(try await app.check() == ["status(N111)", "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)"])
    }

    @Test("client-sdk #83: a promotional TempPass gets the data of the running getAuthentication; without, status 0")
    func sendsTrialData() async throws {
        let app = TestApp()
        try await app.configure()
        app.whenDisplayed = { $0.enabler.setSelectedProvider("trial") }
        #expect(try await app.signIn(data: ["email": "abc/1"]) == ["displayProviderDialog", Self.yes])
        #expect(app.server.calls(.TMP)[0].parameters["generic_data"] == #"{"email":"abc/1"}"#)
        #expect(app.server.calls(.TMP)[0].parameters["domain_name"] == "acme.example")
        try await app.logout()
        app.forget()
        app.server.always(.TMP, .status(400))
        #expect(try await app.signIn() == ["displayProviderDialog", Self.failed])
        #expect(app.server.calls(.TMP)[0].parameters["generic_data"] == nil)
    }

    @Test("a provider named before the configuration is there skips the picker once", arguments: RestVersion.allCases)
    func skipsPicker(rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        app.enabler.setSelectedProvider("trial")
        try await app.configure()
        #expect(try await app.signIn() == [Self.yes])
        app.whenDisplayed = { $0.enabler.setSelectedProvider(nil) }
        #expect(try await app.signIn(force: true).first == "displayProviderDialog")
    }

    @Test("a provider that is not in the configuration is GENERIC, without a call", arguments: RestVersion.allCases)
    func refusesUnknownProvider(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        app.forget()
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("nowhere") } == [Self.failed])
        #expect(app.server.calls.isEmpty)
    }
}
