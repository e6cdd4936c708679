@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// client-sdk §2.5.
@Suite("client-sdk §2.5: logout")
@MainActor
struct SignOutTests {
    static let out = "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)"
    static let bySystem = Scenario(permission: .init(initial: "granted"), system: .init(provider: "mso-harbor"))

    private func signedIn(_ device: DeviceDescription.Platform, byPlatform: Bool, rest: RestVersion = .v1) async throws -> TestApp {
        let app = TestApp(device, rest: rest, scenario: byPlatform ? Self.bySystem : nil)
        try await app.configure()
        if !byPlatform {
            app.server.signIn("plain")
            app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
            try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("plain") }
        }
        app.forget()
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        return app
    }

    @Test("client-sdk #63 L1: tvOS, regular: OUT, no navigateToUrl, status 0", arguments: RestVersion.allCases)
    func signsOutOnTV(rest: RestVersion) async throws {
        let app = try await signedIn(.tvOS, byPlatform: false, rest: rest)
        #expect(try await app.logout() == [Self.out])
        #expect(app.server.names == [.OUT])
        #expect(app.enabler.client.stateStore.sessions.isEmpty)
    }

    @Test("client-sdk #64 L2: tvOS, apple: VSA203 before status 0", arguments: RestVersion.allCases)
    func signsOutOfPlatformOnTV(rest: RestVersion) async throws {
        let app = try await signedIn(.tvOS, byPlatform: true, rest: rest)
        #expect(try await app.logout() == ["status(VSA203)", Self.out])
        #expect(app.server.names == [.OUT])
    }

    @Test("client-sdk #77 L3: iOS: the address carries the access token in its query, and no other call does")
    func signsOutInBrowser() async throws {
        let app = try await signedIn(.iOS, byPlatform: false)
        #expect(try await app.logout() == ["navigateToUrl", Self.out])
        #expect(app.server.calls.isEmpty, "the browser makes the call")
        let parts = try #require(URLComponents(url: app.pages[0], resolvingAgainstBaseURL: false))
        let query = Dictionary((parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
        #expect(parts.path == "/api/v1/logout" && query["access_token"] == "token-1" && query["redirect_url"] == "adobepass://ios.app")
        #expect(query["requestor"] == "ACME1" && query["deviceId"] == "device-1" && query["device_info"]?.isEmpty == false)
    }

    @Test("client-sdk #77: no other call or page of an app's life carries the access token in its address or form")
    func keepsTheTokenOutOfOtherAddresses() async throws {
        let app = TestApp(.iOS)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        try await app.configure()
        app.server.signIn("plain")
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("plain") }
        try await app.until("setToken") { app.enabler.getAuthorization("news") }
        try await app.logout()
        #expect(app.pages.count == 2)
        let token = "token-1"
        let carrying = app.pages.filter { "\($0)".contains(token) }
        #expect(carrying.map(\.path) == ["/api/v1/logout"])
        #expect(Set(app.server.names).isSuperset(of: [.CFG, .REG, .TOK, .RGC, .AUN, .AUZ, .MED]))
        for call in app.server.calls {
            let form = String(decoding: call.request.body ?? Data(), as: UTF8.self)
            #expect(!"\(call.request.url)".contains(token) && !form.contains(token), "\(call.name)")
            let bearer = call.request.header("Authorization")
            #expect(call.name == .REG || call.name == .TOK ? bearer == nil : bearer == "Bearer \(token)", "\(call.name)")
        }
    }

    @Test("client-sdk #77 L3: closed early, then OUT and status 0")
    func signsOutWhenClosed() async throws {
        let app = try await signedIn(.iOS, byPlatform: false)
        app.whenNavigated = { app, _ in app.enabler.setSelectedProvider(nil) }
        #expect(try await app.logout() == ["navigateToUrl", Self.out])
        #expect(app.server.names == [.OUT])
    }

    @Test("client-sdk #64 L4: iOS, apple: VSA203, then as L3", arguments: RestVersion.allCases)
    func signsOutOfPlatformInBrowser(rest: RestVersion) async throws {
        let app = try await signedIn(.iOS, byPlatform: true, rest: rest)
        // Version 2 has no page for it: the person signs out in the settings.
        #expect(try await app.logout() == ["status(VSA203)"] + (rest == .v1 ? ["navigateToUrl"] : []) + [Self.out])
    }

    @Test("L5: nothing stored, no call", arguments: [DeviceDescription.Platform.iOS, .tvOS], RestVersion.allCases)
    func signsOutNobody(device: DeviceDescription.Platform, rest: RestVersion) async throws {
        let app = TestApp(device, rest: rest)
        try await app.configure()
        app.forget()
        #expect(try await app.logout() == [Self.out])
        #expect(app.server.calls.isEmpty)
    }

    @Test("client-sdk #65: without the system's sign-out a relaunch signs in again", arguments: RestVersion.allCases)
    func signsInAgain(rest: RestVersion) async throws {
        let app = try await signedIn(.tvOS, byPlatform: true, rest: rest)
        try await app.logout()
        #expect(try await app.check() == ["status(N000)", Self.out])
        app.relaunch()
        try await app.configure()
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"])
    }

    @Test(
        "client-sdk #66 L6: with the network down the checked state is 0, and the server is told at the next start", arguments: RestVersion.allCases)
    func signsOutOffline(rest: RestVersion) async throws {
        let app = try await signedIn(.tvOS, byPlatform: false, rest: rest)
        app.server.always(.OUT, .unreachable)
        #expect(try await app.logout() == [Self.out])
        #expect(try await app.check() == ["status(N000)", Self.out])
        app.server.always(.OUT, .status(503))
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG, .OUT])
        app.server.always(.OUT, nil)
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG, .OUT])
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG], "told once")
    }

    @Test("a sign-in after a sign-out that is due is not ended by it", arguments: RestVersion.allCases)
    func keepsLaterSession(rest: RestVersion) async throws {
        let app = try await signedIn(.tvOS, byPlatform: false, rest: rest)
        app.server.always(.OUT, .unreachable)
        try await app.logout()
        try await app.signInOrdinarily()
        app.server.always(.OUT, nil)
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG])
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"])
    }

    @Test("a logout ends a sign-in that runs", arguments: RestVersion.allCases)
    func endsSignIn(rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        try await app.until("displayProviderDialog") { app.enabler.getAuthentication() }
        let callbacks = try await app.until("setAuthenticationStatus", times: 2) { app.enabler.logout() }
        #expect(Set(callbacks) == ["setAuthenticationStatus(0,PROVIDER_NOT_SELECTED_ERROR)", Self.out])
    }

    @Test("client-sdk #88: a session from a redeem is signed out without VSA203", arguments: RestVersion.allCases)
    func signsOutOfRedeem(rest: RestVersion) async throws {
        let account = SimulatedAppleAccount()
        account.set("asi1.value", .granted)
        let app = TestApp(rest: rest) { $0.autoSignIn = SimulatedAutoSignIn(account: account) }
        try await app.configure()
        #expect(try await app.enabler.client.redeemAutomaticSignIn() != nil)
        app.forget()
        #expect(try await app.logout() == [Self.out])
    }
}
