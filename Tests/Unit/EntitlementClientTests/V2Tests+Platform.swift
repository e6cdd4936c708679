@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// Sign-in by the platform's login.
extension V2Tests {
    @Test("client-sdk #44: profiles/sso/Apple gets the exact bytes, encoded once, and what the platform said")
    func exchanges() async throws {
        let clock = TestClock()
        let text = " \t<samlp:Response\tID=\"_1\"   Version=\"2.0\">\r\n  <a>b \t c</a>\n</samlp:Response>\n"
        let platform = SimulatedPlatform(LaunchTests.system("mso-harbor"), clock: clock, answers: FixedAnswer(text))
        let app = TestApp(rest: .v2, clock: clock) { $0.providerAccounts = platform }
        try await app.configure()
        #expect(app.server.business == [.CFG, .PRQ, .EXC])
        let call = app.server.calls(.EXC)[0]
        let expected = Data(#"<samlp:Response ID="_1" Version="2.0"> <a>b c</a></samlp:Response>"#.utf8).base64EncodedString()
        #expect(call.parameters == ["SAMLResponse": expected])
        let body = String(decoding: call.request.body ?? Data(), as: UTF8.self)
        #expect(body == "SAMLResponse=" + expected.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D"))
        #expect(app.server.calls(.PRQ)[0].parameters == ["domainName": "acme.example", "redirectUrl": "adobepass://ios.app"])
        let end = Int64(clock.now.timeIntervalSince1970 * 1000) + 86_400_000
        for call in app.server.calls where [.PRQ, .EXC].contains(call.name) {
            let status = call.request.header("AP-Partner-Framework-Status").flatMap { Data(base64Encoded: $0) }
            #expect(
                String(decoding: status ?? Data(), as: UTF8.self)
                    == #"{"frameworkPermissionInfo":{"accessStatus":"granted"},"frameworkProviderInfo":{"expirationDate":"\#(end)","id":"mso-harbor"}}"#
            )
        }
        let second = try #require(
            platform.calls.compactMap { call in if case .metadata(let request) = call { request } else { nil } }.last)
        #expect(second.verificationToken == "PRQ" && second.attributeNames == ["userID", "householdID"] && !second.isInterruptionAllowed)
    }

    @Test("a session from the platform shows with each call what the platform says now; another does not")
    func provesPlatformSession() async throws {
        let app = try await configured(scenario: LaunchTests.system("mso-harbor"))
        app.forget()
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["setToken(NEWS)"])
        try await app.until("preauthorizedResources(NEWS)") { app.enabler.checkPreauthorizedResources(["NEWS"]) }
        #expect(try await app.enabler.client.metadata(.user("tokenSource")).text == "Apple")
        #expect(app.server.calls.allSatisfy { FakeServer.frameworkStatus($0, app.clock.now)?.id == "mso-harbor" })
        let other = try await signedIn()
        try await other.until("setToken") { other.enabler.checkAuthorization("NEWS") }
        #expect(other.server.calls.allSatisfy { $0.request.header("AP-Partner-Framework-Status") == nil })
    }

    /// The servers' possible answers to a sign-in by the platform.
    nonisolated static let fallbacks: [(FakeServer.Answer, String)] = [
        (.status(200, #"{"actionName":"authenticate","actionType":"interactive","reasonType":"pfs_fallback","code":"ABC2345"}"#), "VSA503"),
        (.status(200, #"{"actionName":"resume","actionType":"direct","reasonType":"missing_parameters_fallback","code":"ABC2345"}"#), "VSA503"),
        (.status(200, #"{"actionName":"authenticate","actionType":"interactive","reasonType":"configuration_fallback","code":"ABC2345"}"#), "N004"),
        (.status(400, #"{"status":400,"code":"invalid_integration","action":"none"}"#), "N004"),
        (.status(500), "VSA503"), (.captivePortal, "VSA503"),
    ]

    @Test("client-sdk §1.2: where the server wants another way, the app's picker opens with the code that says why", arguments: fallbacks)
    func fallsBack(answer: FakeServer.Answer, code: String) async throws {
        let app = TestApp(rest: .v2, scenario: LaunchTests.system("mso-harbor"))
        app.server.always(.PRQ, answer)
        app.whenDisplayed = { $0.enabler.setSelectedProvider(nil) }
        #expect(try await app.configure() == ["setRequestorComplete(1)"], "nothing is said at launch")
        #expect(try await app.signIn() == SignInTests.display(code))
        #expect(!app.server.names.contains(.EXC))
    }

    @Test("client-sdk #81: AuthN-All and a system-level sign-in: the profile without SAML, N010, then Z010")
    func letsInByPlatform() async throws {
        let app = TestApp(rest: .v2, scenario: LaunchTests.system("mso-harbor"))
        app.server.change { $0.degraded = ["harbor"] }
        try await app.configure()
        app.forget()
        #expect(try await app.signIn() == ["status(N010)", LoginTests.yes])
        #expect(app.server.names == [.PRQ, .META])
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["status(Z010)", "setToken(NEWS)"])
    }

    @Test("a session that the server has already needs no SAML")
    func takesKnownSession() async throws {
        let app = TestApp(rest: .v2, scenario: LaunchTests.system("mso-harbor"))
        app.server.change { state in
            state.session = .init(mvpd: "harbor", expires: app.clock.now.addingTimeInterval(3600), type: "appleSSO", isRead: true)
        }
        try await app.configure()
        #expect(app.server.business == [.CFG, .PRQ, .META])
        #expect(app.enabler.client.stateStore.token(of: "ACME1")?.source == .apple)
        #expect(try await app.check() == [LoginTests.yes])
    }
}
