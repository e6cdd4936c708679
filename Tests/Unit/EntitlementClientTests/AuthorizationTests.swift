@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

@Suite("client-sdk: authorization, preauthorization, metadata")
@MainActor
struct AuthorizationTests {
    private func signedIn(_ device: DeviceDescription.Platform = .tvOS, as mvpd: String = "plain", rest: RestVersion = .v1) async throws -> TestApp {
        let app = TestApp(device, rest: rest)
        try await app.configure()
        try await app.signInOrdinarily(mvpd)
        return app
    }

    @Test("client-sdk #54: authorized gives setToken; a second call makes MED again, AUZ not", arguments: RestVersion.allCases)
    func keepsPermission(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["setToken(NEWS)"])
        #expect(app.callbacks == ["track(1)", "setToken(NEWS)"])
        #expect(app.server.names == [.AUZ, .MED].said(in: rest))
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.server.names == [.AUZ, .MED, .MED].said(in: rest))
        app.relaunch()
        try await app.configure()
        app.forget()
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.server.names == [.MED].said(in: rest), "permissions outlive a restart")
        app.clock.advance(601)
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.server.names == [.MED, .AUZ, .MED].said(in: rest), "but not their end")
    }

    @Test("a permission that the server has forgotten is asked for anew, once")
    func asksAnew() async throws {
        let app = try await signedIn()
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        app.forget()
        app.server.next(.MED, .status(403, #"{"status":403,"message":"User not authorized"}"#))
        #expect(try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") } == ["setToken(NEWS)"])
        #expect(app.server.names == [.MED, .AUZ, .MED])
    }

    @Test("client-sdk #55: a refusal carries the provider's text, and Z100", arguments: RestVersion.allCases)
    func tellsRefusal(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        app.server.change { $0.permits = [] }
        let callbacks = try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
        #expect(callbacks == ["status(Z100)", "tokenRequestFailed(NEWS,USER_NOT_AUTHORIZED_ERROR)"])
        #expect(app.refusals[0].text == "Not in your package")
        #expect(app.statuses[0] == ["errorId": "Z100", "level": "error", "message": "Not in your package", "resource": "NEWS"])
        #expect(app.tracked.last?[0] == "false" && app.tracked.last?[4] == "Z100" && app.tracked.last?[5] == "Not in your package")
    }

    @Test(
        "the servers' codes become the SDK's",
        arguments: [
            ("authorization_denied_by_degradation_rule", 403, "Z169"), ("network_connection_timeout", 403, "Z120"),
            ("authorization_denied_by_parental_controls", 403, "Z100"), ("malformed_authz_request", 400, "Z130"), ("internal_error", 500, "Z500"),
        ])
    func mapsCodes(code: String, status: Int, expected: String) async throws {
        let app = try await signedIn()
        app.server.always(.AUZ, .status(status, #"{"status":\#(status),"code":"\#(code)","action":"none"}"#))
        try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.codes == [expected])
    }

    @Test("the sixth refusal within ten seconds is Z110", arguments: RestVersion.allCases)
    func countsRefusals(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        app.server.change { $0.permits = [] }
        for _ in 0..<6 { try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") } }
        #expect(app.codes == Array(repeating: "Z100", count: 5) + ["Z110"])
        app.clock.advance(11)
        try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
        #expect(app.codes.last == "Z100")
    }

    @Test("client-sdk #56: unauthenticated, checkAuthorization fails at once; getAuthorization signs in first", arguments: RestVersion.allCases)
    func signsInForToken(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        app.forget()
        #expect(
            try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
                == ["tokenRequestFailed(NEWS,USER_NOT_AUTHENTICATED_ERROR)"])
        #expect(app.server.calls.isEmpty)
        app.whenDisplayed = { $0.enabler.setSelectedProvider("trial") }
        #expect(
            try await app.until("setToken") { app.enabler.getAuthorization("NEWS") }
                == ["displayProviderDialog", "setAuthenticationStatus(1,)", "status(Z011)", "setToken(NEWS)"])
        #expect(try await app.until("setToken") { app.enabler.getAuthorization("NEWS") } == ["status(Z011)", "setToken(NEWS)"])
    }

    @Test("getAuthorization after a login that was given up fails once", arguments: RestVersion.allCases)
    func failsAfterGivingUp(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        app.whenDisplayed = { $0.enabler.setSelectedProvider(nil) }
        #expect(
            try await app.until("tokenRequestFailed") { app.enabler.getAuthorization("NEWS") }.suffix(2)
                == ["setAuthenticationStatus(0,PROVIDER_NOT_SELECTED_ERROR)", "tokenRequestFailed(NEWS,USER_NOT_AUTHENTICATED_ERROR)"])
    }

    @Test("client-sdk #57: 429 is Z100, P100, an empty value", arguments: RestVersion.allCases)
    func tellsThrottling(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        for name in [FakeServer.Name.AUZ, .PRE, .META] { app.server.always(name, .status(429)) }
        #expect(
            try await app.until("tokenRequestFailed") { app.enabler.checkAuthorization("NEWS") }
                == ["status(Z100)", "tokenRequestFailed(NEWS,USER_NOT_AUTHORIZED_ERROR)"])
        #expect(
            try await app.until("preauthorizedResources") { app.enabler.checkPreauthorizedResources(["NEWS"]) }
                == ["status(P100)", "preauthorizedResources()"])
        try await app.until("setMetadataStatus") {
            app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: "zip"])
        }
        #expect(app.metadata[0].value == nil)
    }

    @Test("client-sdk #58: 6 resources against a limit of 5 are P100 and an empty list", arguments: RestVersion.allCases)
    func tellsLimit(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        let six = (1...6).map { "R\($0)" }
        #expect(
            try await app.until("preauthorizedResources") { app.enabler.checkPreauthorizedResources(six) }
                == ["status(P100)", "preauthorizedResources()"])
        try await app.until("onResponse") { app.enabler.preauthorize(ClientPreauthorizeRequest(resources: six), callback: app) }
        #expect(app.decisions[0].decisions.isEmpty && app.decisions[0].status?.code == "too_many_resources")
        #expect(app.decisions[0].status?.status == 403 && app.decisions[0].status?.action == .configuration)
    }

    @Test("client-sdk #59: preauthorize before configuration is onFailure, requestor_not_configured", arguments: RestVersion.allCases)
    func needsConfiguration(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        let request = ClientPreauthorizeRequest(resources: ["NEWS"])
        #expect(try await app.until("onFailure") { app.enabler.preauthorize(request, callback: app) } == ["onFailure(requestor_not_configured)"])
        #expect(app.failures[0].action == .retry && app.failures[0].status == 0)
        try await app.configure()
        try await app.until("onFailure") { app.enabler.preauthorize(request, callback: app) }
        #expect(app.failures[1].code == "authentication_session_missing" && app.failures[1].action == .authentication)
        try await app.signInOrdinarily()
        app.clock.advance(3601)
        try await app.until("onFailure") { app.enabler.preauthorize(request, callback: app) }
        #expect(app.failures[2].code == "authentication_session_expired")
    }

    @Test(
        "client-sdk §1.4: what went wrong on the way",
        arguments: [
            (FakeServer.Answer.unreachable, "network_error"), (.captivePortal, "server_response_format_unknown"),
        ], RestVersion.allCases)
    func tellsFailure(failure: (answer: FakeServer.Answer, code: String), rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        app.server.always(.PRE, failure.answer)
        #expect(
            try await app.until("onFailure") { app.enabler.preauthorize(ClientPreauthorizeRequest(resources: ["NEWS"]), callback: app) }
                == ["onFailure(\(failure.code))"])
        app.server.always(.PRE, .status(401))
        app.server.always(.TOK, .status(400, #"{"error":"unauthorized_client"}"#))
        try await app.until("onFailure") { app.enabler.preauthorize(ClientPreauthorizeRequest(resources: ["NEWS"]), callback: app) }
        #expect(app.failures.last?.code == "access_token_unavailable")
    }

    @Test("client-sdk #60: with LOCAL_CACHE disabled PRE is called each time", arguments: RestVersion.allCases)
    func disablesCache(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        app.server.change { $0.permits = ["NEWS"] }
        for _ in 0..<2 {
            #expect(
                try await app.until("preauthorizedResources") { app.enabler.checkPreauthorizedResources(["NEWS", "SPORT"]) }
                    == ["preauthorizedResources(NEWS)"])
        }
        #expect(app.server.names == [.PRE])
        for _ in 0..<2 {
            try await app.until("onResponse") {
                app.enabler.preauthorize(ClientPreauthorizeRequest(resources: ["NEWS", "SPORT"], disabledFeatures: [.localCache]), callback: app)
            }
        }
        #expect(app.server.names == [.PRE, .PRE, .PRE])
        #expect(app.server.calls(.PRE)[2].request.header("Cache-Control") == nil)
        try await app.until("preauthorizedResources") { app.enabler.checkPreauthorizedResources(["NEWS", "SPORT"], cache: false) }
        #expect(app.server.calls(.PRE)[3].request.header("Cache-Control") == "no-cache")
        app.clock.advance(301)
        try await app.until("preauthorizedResources") { app.enabler.checkPreauthorizedResources(["NEWS", "SPORT"]) }
        #expect(app.server.calls(.PRE).count == 5, "a kept answer ends")
    }

    @Test("client-sdk #62: an encrypted attribute says so, and the same dictionary comes back", arguments: RestVersion.allCases)
    func tellsEncryption(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        app.server.change { state in
            state.metadata["zip"] = "bm90LXJlYWRhYmxl"
            state.encrypted = ["zip"]
        }
        let question: [String: JSONValue] = [
            DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: "zip", "mine": "kept",
        ]
        try await app.until("setMetadataStatus(3)") { app.enabler.getMetadata(question) }
        #expect(app.metadata[0].encrypted && app.metadata[0].value == "bm90LXJlYWRhYmxl" && app.metadata[0].arguments == question)
    }

    @Test("static metadata are texts; the device's id is withheld unless switched on", arguments: RestVersion.allCases)
    func tellsStaticMetadata(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        let end = Int64((app.clock.now.timeIntervalSince1970) * 1000)
        try await app.until("setToken") { app.enabler.checkAuthorization("NEWS") }
        try await app.until("setMetadataStatus(0)") { app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 0]) }
        try await app.until("setMetadataStatus(1)") {
            app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 1, DelegateConstants.METADATA_RESOURCE_ID_KEY: "NEWS"])
        }
        try await app.until("setMetadataStatus(2)") { app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 2]) }
        guard case .string(let session) = app.metadata[0].value, case .string(let permission) = app.metadata[1].value else {
            Issue.record("times are texts")
            return
        }
        #expect(Int64(session).map { $0 > end && $0 <= end + 3_600_000 } == true)
        #expect(Int64(permission).map { $0 == end + 600_000 } == true)
        #expect(app.metadata[2].value == nil)
        app.relaunch { $0.revealsDeviceID = true }
        try await app.configure()
        try await app.until("setMetadataStatus(2)") { app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 2]) }
        #expect(app.metadata[3].value == "device-1")
    }

    @Test("client-sdk #85: the GUID of tracking is the session's, which the media token carries", arguments: RestVersion.allCases)
    func tracksGuid(rest: RestVersion) async throws {
        let app = TestApp(.iPadOS, rest: rest)
        let guid = app.server.guid(in: rest)
        try await app.configure()
        app.server.signIn("plain")
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("plain") }
        #expect(app.tracked == [["plain", "tablet", "ios", "iPadOS 26.0"], ["true", "plain", guid, "false", "tablet", "ios", "iPadOS 26.0"]])
        let token = try await app.enabler.client.authorize("NEWS")
        #expect(token.userID == guid)
        try await app.eventually("tracking") { app.tracked.count == 3 }
        #expect(app.tracked[2] == ["true", "plain", guid, "false", "", "", "tablet", "ios", "iPadOS 26.0"])
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"])
        #expect(app.tracked[3][3] == "true", "already cached")
    }

    @Test("getSelectedProvider tells the provider of the session", arguments: RestVersion.allCases)
    func tellsProvider(rest: RestVersion) async throws {
        let app = try await signedIn(rest: rest)
        #expect(try await app.until("selectedProvider") { app.enabler.getSelectedProvider() } == ["selectedProvider(plain)"])
        try await app.logout()
        #expect(try await app.until("selectedProvider") { app.enabler.getSelectedProvider() } == ["selectedProvider(nil)"])
    }
}
