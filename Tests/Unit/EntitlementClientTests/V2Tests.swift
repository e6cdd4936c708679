@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// The features that only version 2 of the API has, and the counterparts of version 1's own calls (client-sdk #44, #74, #77, #81).
@Suite("client-sdk over rest-v2")
@MainActor
struct V2Tests {
    static let no = "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)"

    func configured(_ device: DeviceDescription.Platform = .tvOS, scenario: Scenario? = nil) async throws -> TestApp {
        let app = TestApp(device, rest: .v2, scenario: scenario)
        try await app.configure()
        return app
    }

    func signedIn(_ device: DeviceDescription.Platform = .tvOS) async throws -> TestApp {
        let app = try await configured(device)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        app.server.signIn("plain")
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("plain") }
        app.forget()
        return app
    }

    // MARK: - What calls carry

    @Test("rest-v2 §1.2, §1.3: every call names the device and describes it, as headers")
    func carriesHeaders() async throws {
        let app = try await signedIn(.iOS)
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        try await app.until("preauthorizedResources") { app.enabler.checkPreauthorizedResources(["NEWS"]) }
        try await app.until("setMetadataStatus") { app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 3]) }
        try await app.logout()
        #expect(app.server.names == [.AUZ, .PRE, .META, .OUT])
        for call in app.server.calls {
            let request = call.request
            #expect(request.header("AP-Device-Identifier") == "fingerprint \(Data("device-1".utf8).base64EncodedString())")
            #expect(request.header("Authorization") == "Bearer token-1")
            let information = try #require(request.header("X-Device-Info").flatMap { Data(base64Encoded: $0) })
            let facts = try JSONDecoder().decode([String: String].self, from: information)
            for key in ["model", "version", "osName", "osVersion", "connectionType"] { #expect(facts[key]?.isEmpty == false, "\(key)") }
            #expect(!"\(request.url)".contains("device-1") && !"\(request.url)".contains("token-1"))
        }
        #expect(app.server.calls(.AUZ)[0].resources == ["NEWS"] && app.server.calls(.AUZ)[0].subject == "plain")
    }

    @Test("a resource in Media RSS arrives as it is")
    func sendsMediaRSS() async throws {
        let app = try await signedIn()
        let resource = #"<rss version="2.0"><channel><title>NEWS/1</title></channel></rss>"#
        try await app.until("setToken") { app.enabler.checkAuthorization(resource) }
        #expect(app.server.calls(.AUZ)[0].resources == [resource])
    }

    // MARK: - Login

    @Test("client-sdk #74: adobepass://ios.app is the session's redirectUrl, and the page is the session's url")
    func beginsLogin() async throws {
        let app = try await configured(.iOS)
        app.forget()
        try await app.until("navigateToUrl") { app.enabler.setSelectedProvider("plain") }
        let form = app.server.calls(.RGC)[0].parameters
        #expect(form == ["mvpd": "plain", "domainName": "acme.example", "redirectUrl": "adobepass://ios.app"])
        #expect(app.pages.map(\.absoluteString) == ["https://tv.example/api/v2/authenticate/ACME1/QK7M2XD"])
        app.server.signIn("plain")
        try await app.until(LoginTests.yes) { app.enabler.handleExternalURL(LoginTests.end) }
        #expect(app.server.calls(.AUN)[0].request.url.path == "/api/v2/ACME1/profiles/code/QK7M2XD")
    }

    @Test("client-sdk #48: the browser decides the redirectUrl", arguments: ["safari", "plain"])
    func namesReturnAddress(provider: String) async throws {
        let app = TestApp(.iOS, rest: .v2) { $0.safariReturnAddress = "adbe.u5f2://adobe.com" }
        app.enabler.setOptions(["handleSVC": true])
        try await app.configure()
        try await app.until("navigateToUrl") { app.enabler.setSelectedProvider(provider) }
        let isSafari = provider == "safari"
        #expect(app.visible.last == (isSafari ? "navigateToUrl:useSVC:" : "navigateToUrl"))
        #expect(app.server.calls(.RGC)[0].parameters["redirectUrl"] == (isSafari ? "adbe.u5f2://adobe.com" : "adobepass://ios.app"))
    }

    @Test("a second screen ends at the brand's page, and may go to the login at once")
    func servesSecondScreen() async throws {
        let app = try await configured(.tvOS)
        let client = app.enabler.client
        app.clock.whenSleeping { [server = app.server] _ in server.signIn("plain") }
        let person = CodeReader()
        _ = try await client.signIn(at: "plain", interaction: person)
        #expect(app.server.calls(.RGC)[0].parameters["redirectUrl"] == "https://acme.example/")
        let code = try #require(await person.code)
        #expect(code.code == "QK7M2XD" && code.lifetime == .seconds(1800) && code.loginAddress == nil)
        #expect(code.addressWithCode?.absoluteString == "https://tv.example/api/v2/authenticate/ACME1/QK7M2XD")
    }

    @Test("a code that was replaced ends the polling at once, N130")
    func stopsWithReplacedCode() async throws {
        let app = try await configured(.tvOS)
        app.server.next(.AUN, .status(200, #"{"profiles":{}}"#), .status(400, #"{"status":400,"code":"invalid_authentication_session"}"#))
        #expect(
            try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") }
                == ["status(REGCODE)", "status(N130)", LoginTests.failed])
        #expect(app.server.calls(.AUN).count == 2)
    }

    @Test("client-sdk #82: a provider that is out of order, chosen in the app's picker: no page")
    func letsInWithoutPage() async throws {
        let app = try await configured(.iOS)
        app.server.change { $0.degraded = ["plain"] }
        app.whenDisplayed = { $0.enabler.setSelectedProvider("plain") }
        app.forget()
        #expect(try await app.signIn() == ["displayProviderDialog", "status(N010)", LoginTests.yes])
        #expect(app.server.business == [.RGC, .META])
        #expect(try await app.check() == ["status(N010)", LoginTests.yes])
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["status(Z010)", "setToken(NEWS)"])
    }

    @Test("rest-v2 §5 K: a session without the provider outlives its profile, and ends with the first refusal")
    func endsWithRule() async throws {
        let app = try await configured(.iOS)
        app.server.change { $0.degraded = ["plain"] }
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("plain") }
        app.clock.advance(700)
        #expect(try await app.check() == ["status(N010)", LoginTests.yes])
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["status(Z010)", "setToken(NEWS)"])
        app.server.change { $0.degraded = [] }
        try await app.until("tokenRequestFailed(NEWS,USER_NOT_AUTHENTICATED_ERROR)") { app.enabler.checkAuthorization("NEWS") }
        #expect(try await app.check() == ["status(N000)", Self.no])
    }

    @Test("client-sdk #82: a provider that goes out of order after the session was made comes straight back")
    func comesStraightBack() async throws {
        let app = try await configured(.iOS)
        app.whenNavigated = { app, url in
            app.server.change { $0.degraded = ["plain"] }
            Task {
                let answer = try await app.server.send(HTTPRequest(.get, url))
                app.enabler.handleExternalURL(try #require(answer.header("Location").flatMap { URL(string: $0) }))
            }
        }
        #expect(
            try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") }
                == ["navigateToUrl", "status(N010)", LoginTests.yes])
    }

    @Test("a moment that is none is no session", arguments: ["1e300", "-1", "253402300800000", "\"1e999\"", "\"soon\""])
    func refusesMoments(text: String) async throws {
        let app = try await configured(.iOS)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        app.server.always(.AUN, .status(200, #"{"profiles":{"plain":{"notAfter":\#(text),"type":"regular","attributes":{}}}}"#))
        try await app.until("setAuthenticationStatus(0") { app.enabler.setSelectedProvider("plain") }
        #expect(app.enabler.client.stateStore.sessions.isEmpty)
    }

    @Test("numbers for texts and texts for numbers are read all the same")
    func toleratesForms() async throws {
        let app = try await configured(.iOS)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        let end = Int64(app.clock.now.timeIntervalSince1970 * 1000) + 3_600_000
        app.server.always(
            .RGC,
            .status(
                200,
                #"{"actionName":"authenticate","actionType":"interactive","reasonType":"none","code":"ABC2345","url":"/api/v2/authenticate/ACME1/ABC2345","#
                    + #""notBefore":\#(end - 5_400_000),"notAfter":\#(end - 3_600_000)}"#))
        let profile =
            #"{"profiles":{"plain":{"notBefore":"\#(end - 3_600_000)","notAfter":"\#(end)","issuer":"plain","type":"regular","attributes":"#
            + #"{"userID":{"value":4471,"state":"plain"},"zip":{"value":"Q2lwaGVy","state":"encrypted"},"bad":{"state":"enc","error":{"status":500}}}}}}"#
        app.server.always(.AUN, .status(200, profile))
        app.server.always(.META, .status(200, profile))
        try await app.until(LoginTests.yes) { app.enabler.setSelectedProvider("plain") }
        #expect(app.enabler.client.stateStore.token(of: "ACME1")?.userID == ScrambledID.make("plain", "4471"))
        let client = app.enabler.client
        #expect(try await client.metadata(.user("zip")) == MetadataValue("Q2lwaGVy", isEncrypted: true))
        #expect(try await client.metadata(.user("bad")).value == nil, "a broken certificate spoils one attribute")
    }

    // MARK: - Tokens

    @Test("clients §4.8: 401 gets a new token; a token that is not for the requestor is SEC403")
    func renewsToken() async throws {
        let app = try await signedIn()
        app.server.next(
            .AUZ, .response(FakeServer.refusal(401, "invalid_access_token_client_application", "application-registration")))
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["setToken(NEWS)"])
        #expect(app.server.names == [.AUZ, .TOK, .AUZ])
        app.server.always(
            .CFG, .response(FakeServer.refusal(401, "invalid_access_token_service_provider", "application-registration")))
        #expect(try await app.configure() == ["status(SEC403)", "setRequestorComplete(0)"])
    }

    @Test("the provider's own id of the person reaches no analytics; another provider's person of that id is another")
    func scramblesIDs() async throws {
        #expect(ScrambledID.make("plain", "4471") == "35f6d9d82d498ebc6f19f41fcd5360a93e9815e902192260d5ddb6c572d0e699")
        #expect(ScrambledID.make("plain", "4471") != ScrambledID.make("quay", "4471"))
        let app = try await configured(.iOS)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        app.server.signIn("plain")
        try await app.until(LoginTests.yes) { app.enabler.setSelectedProvider("plain") }
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        #expect(!app.tracked.joined().contains("guid-1") && app.tracked.joined().contains(ScrambledID.make("plain", "guid-1")))
    }

    // MARK: - Logout

    @Test("client-sdk #77 L3: iOS: the server is told, then the provider's page opens; no address carries the token", arguments: [true, false])
    func signsOut(closesEarly: Bool) async throws {
        let app = try await signedIn(.iOS)
        if closesEarly { app.whenNavigated = { app, _ in app.enabler.setSelectedProvider(nil) } }
        #expect(try await app.logout() == ["navigateToUrl", Self.no])
        #expect(app.server.names == [.OUT] && app.server.calls[0].subject == "plain")
        #expect(app.server.calls[0].parameters == ["redirectUrl": "adobepass://ios.app"])
        #expect(app.pages.map(\.absoluteString) == ["https://idp.example/logout?RelayState=7"])
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG], "the server knows")
    }

    @Test("a logout's url from the server's root is the server's")
    func readsRelativeAddress() async throws {
        let app = try await signedIn(.iOS)
        app.server.next(
            .OUT,
            .status(200, #"{"logouts":{"plain":{"actionName":"logout","actionType":"interactive","mvpd":"plain","url":"/api/v2/logout/x"}}}"#))
        try await app.logout()
        #expect(app.pages.map(\.absoluteString) == ["https://tv.example/api/v2/logout/x"])
    }

    @Test("an address that is no page's is not opened", arguments: ["javascript:alert(1)", "file:///etc/passwd", "logout", ""])
    func opensPagesOnly(address: String) async throws {
        let app = try await signedIn(.iOS)
        app.server.next(
            .OUT, .status(200, #"{"logouts":{"plain":{"actionName":"logout","actionType":"interactive","mvpd":"plain","url":"\#(address)"}}}"#))
        #expect(try await app.logout() == [Self.no])
        app.server.next(
            .RGC, .status(200, #"{"actionName":"authenticate","reasonType":"none","code":"ABC2345","url":"\#(address)","notAfter":"1900001800000"}"#))
        #expect(try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") } == ["status(N500)", LoginTests.failed])
    }

    @Test("client-sdk §1.2: partner_logout is VSA203, also when this device did not know", arguments: [DeviceDescription.Platform.iOS, .tvOS])
    func tellsPartnerLogout(device: DeviceDescription.Platform) async throws {
        let app = try await signedIn(device)
        app.server.next(
            .OUT, .status(200, #"{"logouts":{"plain":{"actionName":"partner_logout","actionType":"partner_interactive","mvpd":"plain"}}}"#))
        #expect(try await app.logout() == ["status(VSA203)", Self.no])
    }

    @Test("client-sdk #66: a logout that is due names its provider; one that has left the configuration is settled")
    func remembersProvider() async throws {
        let app = try await signedIn()
        app.server.always(.OUT, .unreachable)
        try await app.logout()
        app.server.always(.OUT, .status(400, #"{"status":400,"code":"invalid_integration"}"#))
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG, .OUT] && app.server.calls[1].subject == "plain")
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG])
    }

    @Test("a due logout of another provider is still told after the next sign-in")
    func keepsDueSignOut() async throws {
        let app = try await signedIn()
        app.server.always(.OUT, .unreachable)
        try await app.logout()
        app.server.signIn("quay")
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("quay") }
        app.server.always(.OUT, nil)
        app.relaunch()
        try await app.configure()
        #expect(app.server.names == [.CFG, .OUT] && app.server.calls[1].subject == "plain")
        #expect(try await app.check() == [LoginTests.yes])
    }

    // MARK: - From version 1 to version 2

    @Test("an app that moves to version 2 keeps its session if the server knows it there", arguments: [true, false])
    func adoptsSession(isKnown: Bool) async throws {
        let app = TestApp()
        try await app.configure()
        try await app.signInOrdinarily()
        if !isKnown { app.server.change { $0.session = nil } }
        app.relaunch { $0.restVersion = .v2 }
        try await app.configure()
        #expect(app.server.business == [.CFG, .META])
        #expect(try await app.check().last == (isKnown ? LoginTests.yes : Self.no))
        app.relaunch()
        try await app.configure()
        #expect(app.server.business == [.CFG], "asked once")
    }

    @Test("a server that cannot be reached just now ends no session")
    func keepsSessionMeanwhile() async throws {
        let app = TestApp()
        try await app.configure()
        try await app.signInOrdinarily()
        app.server.next(.META, .unreachable)
        app.relaunch { $0.restVersion = .v2 }
        try await app.configure()
        #expect(try await app.check() == [LoginTests.yes])
    }

    @Test("a key pair signs no call of version 2")
    func ignoresSigner() async throws {
        let app = TestApp(rest: .v2)
        app.enabler.setSigner(RequestSigner(requestor: "ACME1", publicKey: "p", secret: "s"))
        try await app.configure()
        #expect(app.server.calls(.CFG)[0].request.header("Authorization") == "Bearer token-1")
    }
}

/// Keeps the code that it is shown.
private actor CodeReader: AuthenticationInteraction {
    private(set) var code: RegistrationCode?

    func chooseProvider(from: [Provider], reason: StatusCode?) -> Provider.ID? { nil }
    func openLogin(_ url: URL, style: BrowserStyle) -> URL? { nil }
    func showCode(_ code: RegistrationCode) { self.code = code }
    func present(_ picker: ProviderPicker) {}
    func dismiss(_ picker: ProviderPicker) {}
}
