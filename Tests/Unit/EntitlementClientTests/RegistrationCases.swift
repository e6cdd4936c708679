@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

@Suite("client-sdk: registration and configuration")
@MainActor
struct RegistrationCases {
    @Test("client-sdk #1: REG and TOK once, both reused after a restart")
    func registersOnce() async throws {
        let app = TestApp()
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.REG, .TOK, .CFG])
        app.relaunch()
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.CFG])
        #expect(app.server.calls[0].request.header("Authorization") == "Bearer token-1")
    }

    @Test("client-sdk #2: invalid_client registers again")
    func registersAgain() async throws {
        let app = TestApp()
        try await app.configure()
        app.relaunch()
        app.server.next(.CFG, .status(401))
        app.server.next(.TOK, .status(400, #"{"error":"invalid_client"}"#))
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.CFG, .TOK, .REG, .TOK, .CFG])
    }

    @Test("client-sdk #3: an invalid statement is R400", arguments: ["invalid_software_statement", "unapproved_software_statement"])
    func refusesStatement(code: String) async throws {
        let app = TestApp()
        app.server.always(.REG, .status(400, #"{"error":"\#(code)"}"#))
        #expect(try await app.configure() == ["status(R400)", "setRequestorComplete(0)"])
        #expect(app.statuses[0]["details"] == code)
    }

    @Test(
        "client-sdk #4: what withholds the configuration",
        arguments: [
            (FakeServer.Answer.status(400), "CFG400"), (.unreachable, "CFG404"), (.status(503), "CFG503"), (.status(429), "CFG429"),
            (.captivePortal, "CFG404"), (.status(403), "SEC403"), (.failure(TransportFailure(.insecure, "certificate")), "SEC420"),
            (.status(502), "CFG502"), (.status(200, "[]"), "CFG404"),
        ])
    func namesConfigurationFailure(answer: FakeServer.Answer, code: String) async throws {
        let app = TestApp()
        app.server.always(.CFG, answer)
        #expect(try await app.configure() == ["status(\(code))", "setRequestorComplete(0)"])
    }

    @Test(
        "client-sdk #4: the same before there is a client or a token",
        arguments: [(FakeServer.Answer.unreachable, "CFG404"), (.status(503), "CFG503"), (.status(429), "CFG429"), (.captivePortal, "CFG404")],
        [FakeServer.Name.REG, .TOK])
    func namesRegistrationFailure(answer: (FakeServer.Answer, String), call: FakeServer.Name) async throws {
        let app = TestApp()
        app.server.always(call, answer.0)
        #expect(try await app.configure() == ["status(\(answer.1))", "setRequestorComplete(0)"])
    }

    @Test("a token that is refused for another reason is R401")
    func namesMissingToken() async throws {
        let app = TestApp()
        app.server.always(.TOK, .status(400, #"{"error":"unauthorized_client"}"#))
        #expect(try await app.configure() == ["status(R401)", "setRequestorComplete(0)"])
    }

    @Test("client-sdk #5: of two servers with the same MVPD the faster one answers for it")
    func prefersFasterServer() async throws {
        let clock = TestClock()
        let (fast, slow) = (
            FakeServer("fast.example", clock: clock, providers: [.plain]), FakeServer("slow.example", clock: clock, providers: [.plain, .trial])
        )
        let both = TwoServers(fast: fast, slow: slow)
        let app = TestApp(providers: [], clock: clock, server: fast) { $0.transport = both }
        try await app.until("setRequestorComplete(1)") { app.enabler.setRequestor("ACME1", serviceProviders: [slow.url, fast.url]) }
        #expect(slow.names.contains(.CFG))
        fast.signIn("plain")
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("plain") }
        #expect(fast.names.contains(.RGC) && fast.names.contains(.AUN))
        #expect(!slow.names.contains(.RGC) && !slow.names.contains(.AUN))
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("trial") }
        #expect(slow.names.contains(.TMP) && !fast.names.contains(.TMP))
    }

    @Test("client-sdk #6: checkAuthentication before completion answers after it")
    func checksAfterConfiguration() async throws {
        let app = TestApp()
        let callbacks = try await app.until("setAuthenticationStatus") {
            app.enabler.setRequestor("ACME1")
            app.enabler.checkAuthentication()
        }
        #expect(callbacks == ["setRequestorComplete(1)", "status(N000)", "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)"])
    }

    @Test("client-sdk #7: after a failed configuration each queued call gets its failure once")
    func failsQueuedCalls() async throws {
        let app = TestApp()
        app.server.always(.CFG, .status(503))
        try await app.until("tokenRequestFailed", times: 2) {
            app.enabler.setRequestor("ACME1")
            app.enabler.checkAuthentication()
            app.enabler.getAuthentication()
            app.enabler.checkAuthorization("NEWS")
            app.enabler.getAuthorization("SPORT")
            app.enabler.checkPreauthorizedResources(["NEWS"])
            app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 0])
            app.enabler.logout()
        }
        try await app.eventually("all") { app.callbacks.count { $0.hasPrefix("setAuthenticationStatus") } == 3 }
        await app.settle()
        #expect(app.visible.first == "status(CFG503)")
        #expect(
            Set(app.visible.dropFirst(2)).subtracting(["status(N000)", "status(P100)"]) == [
                "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)", "setAuthenticationStatus(0,GENERIC_AUTHENTICATION_ERROR)",
                "tokenRequestFailed(NEWS,GENERIC_AUTHORIZATION_ERROR)", "tokenRequestFailed(SPORT,GENERIC_AUTHORIZATION_ERROR)",
                "preauthorizedResources()", "setMetadataStatus(0)",
            ])
        #expect(app.visible.count { $0 == "setMetadataStatus(0)" } == 1)
        #expect(app.visible.count { $0.hasPrefix("tokenRequestFailed(NEWS") } == 1)
    }

    @Test("client-sdk #8: device_info takes the place of what was computed")
    func replacesDeviceInformation() async throws {
        let app = TestApp()
        try await app.configure()
        let computed = try #require(app.server.calls(.CFG)[0].request.header("X-Device-Info"))
        let json = try #require(computed.removingPercentEncoding.flatMap { Data(base64Encoded: $0) })
        let facts = try JSONDecoder().decode([String: String].self, from: json)
        #expect(facts["model"] == "Test" && facts["osName"] == "tvOS")
        app.enabler.setOptions(["device_info": "bWluZQ==", "visitorID": "v-1", "applicationProfile": "kids"])
        try await app.configure()
        let sent = app.server.calls(.CFG)[1].request
        #expect(sent.header("X-Device-Info") == "bWluZQ%3D%3D")
        #expect(sent.header("ap_vi") == "v-1")
        #expect(sent.header("X-Application-Profile") == "kids")
    }

    @Test("client-sdk #75: 401 also with a new token, or 403 invalid_client: REG, TOK, one retry")
    func registersAnewOnce() async throws {
        let app = TestApp()
        try await app.configure()
        app.forget()
        app.server.next(.CFG, .status(401), .status(401))
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.CFG, .TOK, .CFG, .REG, .TOK, .CFG])
        app.forget()
        app.server.next(.CFG, .status(403, #"{"error":"invalid_client"}"#))
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.CFG, .REG, .TOK, .CFG])
        app.forget()
        app.server.always(.CFG, .status(401))
        #expect(try await app.configure() == ["status(R401)", "setRequestorComplete(0)"])
        #expect(app.server.names == [.CFG, .TOK, .CFG, .REG, .TOK, .CFG])
    }

    @Test("client-sdk #76: on iPadOS deviceType is iOS", arguments: DeviceDescription.Platform.allCases)
    func namesDeviceType(platform: DeviceDescription.Platform) async throws {
        let app = TestApp(platform)
        try await app.configure()
        #expect(app.server.calls(.CFG)[0].parameters["deviceType"] == (platform == .tvOS ? "tvOS" : "iOS"))
        try app.requireDeviceType(platform == .tvOS ? "tvOS" : "iOS")
    }

    @Test("a moment that is none is no session", arguments: ["1e300", "-1", "253402300800000", "\"1e999\"", "\"soon\""])
    func refusesMoments(text: String) async throws {
        let app = TestApp()
        try await app.configure()
        app.server.always(.AUN, .status(200, #"{"mvpd":"plain","userId":"u","expires":\#(text)}"#))
        app.enabler.setSelectedProvider("plain")
        try await app.until("setAuthenticationStatus(0") { app.enabler.checkAuthentication() }
        #expect(app.enabler.client.keeper.sessions.isEmpty)
    }

    @Test("client-sdk #76: so it is in all calls of a sign-in by the platform", arguments: DeviceDescription.Platform.allCases)
    func namesDeviceTypeThroughout(platform: DeviceDescription.Platform) async throws {
        let app = TestApp(platform, scenario: SignOutCases.bySystem)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginCases.end) }
        try await app.configure()
        #expect(try await app.check().last == "setAuthenticationStatus(1,)")
        try await app.until("setToken") { app.enabler.getAuthorization("news") }
        try await app.logout()
        let type = platform == .tvOS ? "tvOS" : "iOS"
        for name in [FakeServer.Name.CFG, .PRQ, .EXC] {
            let calls = app.server.calls(name)
            #expect(!calls.isEmpty && calls.allSatisfy { $0.parameters["deviceType"] == type }, "\(name)")
        }
        try app.requireDeviceType(type)
    }

    @Test("a device whose clock is off by a day is told, and its session is good as long as the server says")
    func correctsClock() async throws {
        let app = TestApp()
        app.server.change { [now = app.clock.now] in $0.date = now }
        app.clock.setAhead(86_400)
        #expect(try await app.configure() == ["status(CFG100)", "setRequestorComplete(1)"])
        app.server.change { [now = app.clock.now] in $0.session = .init(mvpd: "plain", expires: now.addingTimeInterval(-86_400 + 3600)) }
        app.server.always(
            .AUN, .status(200, #"{"mvpd":"plain","userId":"u","expires":"\#(Int64(app.clock.now.timeIntervalSince1970 - 86_400 + 3600) * 1000)"}"#))
        try await app.until("setAuthenticationStatus(1,)") { app.enabler.setSelectedProvider("plain") }
        #expect(try await app.check() == ["setAuthenticationStatus(1,)"])
        app.clock.advance(3601)
        #expect(try await app.check().last == "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)")
    }
}

/// Two servers behind one network; the answers of the slow one wait for those of the fast one.
struct TwoServers: HTTPTransport {
    let fast: FakeServer
    let slow: FakeServer

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.url.host == slow.host else { return try await fast.send(request) }
        if request.url.path.hasPrefix("/api/v1/config") {
            while !fast.names.contains(.CFG) { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(30))
        }
        return try await slow.send(request)
    }
}
