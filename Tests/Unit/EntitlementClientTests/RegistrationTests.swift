@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

@Suite("client-sdk: registration and configuration")
@MainActor
struct RegistrationTests {
    @Test("client-sdk #1: REG and TOK once, both reused after a restart", arguments: RestVersion.allCases)
    func registersOnce(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.REG, .TOK, .CFG])
        app.relaunch()
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.CFG])
        #expect(app.server.calls[0].request.header("Authorization") == "Bearer token-1")
    }

    @Test("client-sdk #2: invalid_client registers again", arguments: RestVersion.allCases)
    func registersAgain(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        app.relaunch()
        app.server.next(.CFG, .status(401))
        app.server.next(.TOK, .status(400, #"{"error":"invalid_client"}"#))
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.CFG, .TOK, .REG, .TOK, .CFG])
    }

    @Test(
        "client-sdk #3: an invalid statement is R400", arguments: ["invalid_software_statement", "unapproved_software_statement"],
        RestVersion.allCases)
    func refusesStatement(code: String, rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
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
        ], RestVersion.allCases)
    func namesConfigurationFailure(failure: (answer: FakeServer.Answer, code: String), rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        app.server.always(.CFG, failure.answer)
        #expect(try await app.configure() == ["status(\(failure.code))", "setRequestorComplete(0)"])
    }

    @Test(
        "client-sdk #4: details name the address at which no server was found, and what a plain one begins with",
        arguments: [FakeServer.Answer.unreachable, .failure(TransportFailure(.insecure, "certificate"))])
    func namesAddress(answer: FakeServer.Answer) async throws {
        let app = TestApp()
        app.server.always(.CFG, answer)
        try await app.configure()
        let details = try #require(app.statuses[0]["details"])
        #expect(details.hasPrefix("\(app.server.url.absoluteString): "))
        #expect(details.hasSuffix("its address begins with http://"))
    }

    @Test("client-sdk #4: an address without a scheme is named, and no request goes there", arguments: ["sp.example", "ftp://sp.example"])
    func namesAddressWithoutScheme(text: String) async throws {
        let app = TestApp()
        let address = try #require(URL(string: text))
        try await app.until("setRequestorComplete(0)") { app.enabler.setRequestor("ACME1", serviceProviders: [address]) }
        #expect(app.codes == ["CFG404"])
        #expect(app.statuses[0]["details"] == "\(text): this is no address of a server: it begins with https:// or http://")
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

    @Test("a token that is refused for another reason is R401", arguments: RestVersion.allCases)
    func namesMissingToken(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        app.server.always(.TOK, .status(400, #"{"error":"unauthorized_client"}"#))
        #expect(try await app.configure() == ["status(R401)", "setRequestorComplete(0)"])
    }

    @Test("client-sdk #5: of two servers with the same MVPD the faster one answers for it", arguments: RestVersion.allCases)
    func prefersFasterServer(rest: RestVersion) async throws {
        let clock = TestClock()
        let (fast, slow) = (
            FakeServer("fast.example", clock: clock, providers: [.plain]), FakeServer("slow.example", clock: clock, providers: [.plain, .trial])
        )
        let trialCall = rest == .v1 ? FakeServer.Name.TMP : .META
        let both = TwoServers(fast: fast, slow: slow)
        let app = TestApp(rest: rest, providers: [], clock: clock, server: fast) { $0.transport = both }
        try await app.until("setRequestorComplete(1)") { app.enabler.setRequestor("ACME1", serviceProviders: [slow.url, fast.url]) }
        #expect(slow.names.contains(.CFG))
        fast.signIn("plain")
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("plain") }
        #expect(fast.names.contains(.RGC) && fast.names.contains(.AUN))
        #expect(!slow.names.contains(.RGC) && !slow.names.contains(.AUN))
        try await app.until("setAuthenticationStatus(1") { app.enabler.setSelectedProvider("trial") }
        #expect(slow.names.contains(trialCall) && !fast.names.contains(trialCall))
    }

    @Test("client-sdk #6: checkAuthentication before completion answers after it", arguments: RestVersion.allCases)
    func checksAfterConfiguration(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        let callbacks = try await app.until("setAuthenticationStatus") {
            app.enabler.setRequestor("ACME1")
            app.enabler.checkAuthentication()
        }
        #expect(callbacks == ["setRequestorComplete(1)", "status(N000)", "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)"])
    }

    @Test("client-sdk #7: after a failed configuration each queued call gets its failure once", arguments: RestVersion.allCases)
    func failsQueuedCalls(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
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
        // The sign-in fails, unless the logout behind it ends it first.
        let signIn = app.visible.filter { $0.contains("GENERIC_AUTHENTICATION_ERROR") || $0.contains("PROVIDER_NOT_SELECTED_ERROR") }
        #expect(signIn.count == 1 && signIn.allSatisfy { $0.hasPrefix("setAuthenticationStatus(0,") })
        #expect(
            Set(app.visible.dropFirst(2)).subtracting(signIn + ["status(N000)", "status(P100)"]) == [
                "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)",
                "tokenRequestFailed(NEWS,GENERIC_AUTHORIZATION_ERROR)", "tokenRequestFailed(SPORT,GENERIC_AUTHORIZATION_ERROR)",
                "preauthorizedResources()", "setMetadataStatus(0)",
            ])
        #expect(app.visible.count { $0 == "setMetadataStatus(0)" } == 1)
        #expect(app.visible.count { $0.hasPrefix("tokenRequestFailed(NEWS") } == 1)
    }

    @Test("client-sdk #8: device_info takes the place of what was computed", arguments: RestVersion.allCases)
    func replacesDeviceInformation(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        let computed = try #require(app.server.calls(.CFG)[0].request.header("X-Device-Info"))
        let json = try #require(computed.removingPercentEncoding.flatMap { Data(base64Encoded: $0) })
        let facts = try JSONDecoder().decode([String: String].self, from: json)
        #expect(facts["model"] == "Test" && facts["osName"] == "tvOS")
        app.enabler.setOptions(["device_info": "bWluZQ==", "visitorID": "v-1", "applicationProfile": "kids"])
        try await app.configure()
        let sent = app.server.calls(.CFG)[1].request
        #expect(sent.header("X-Device-Info") == (rest == .v1 ? "bWluZQ%3D%3D" : "bWluZQ=="))
        #expect(sent.header(rest == .v1 ? "ap_vi" : "AP-Visitor-Identifier") == "v-1")
        #expect(sent.header("X-Application-Profile") == (rest == .v1 ? "kids" : nil), "version 2 has no place for it")
    }

    @Test("client-sdk #75: 401 also with a new token, or 403 invalid_client: REG, TOK, one retry", arguments: RestVersion.allCases)
    func registersAnewOnce(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        app.forget()
        app.server.next(.CFG, .status(401), .status(401))
        #expect(try await app.configure() == ["setRequestorComplete(1)"])
        #expect(app.server.names == [.CFG, .TOK, .CFG, .REG, .TOK, .CFG])
        app.forget()
        app.server.next(.CFG, .status(403, #"{"error":"invalid_client"}"#))
        let isOver = rest == .v2
        #expect(try await app.configure() == (isOver ? ["status(SEC403)", "setRequestorComplete(0)"] : ["setRequestorComplete(1)"]))
        #expect(app.server.names == (isOver ? [.CFG] : [.CFG, .REG, .TOK, .CFG]), "clients §4.8: in version 2 only 401 is about the token")
        app.forget()
        app.server.always(.CFG, .status(401))
        #expect(try await app.configure() == ["status(R401)", "setRequestorComplete(0)"])
        #expect(app.server.names == [.CFG, .TOK, .CFG, .REG, .TOK, .CFG])
    }

    @Test("client-sdk #76: on iPadOS deviceType is iOS", arguments: DeviceDescription.Platform.allCases, RestVersion.allCases)
    func namesDeviceType(platform: DeviceDescription.Platform, rest: RestVersion) async throws {
        let app = TestApp(platform, rest: rest)
        try await app.configure()
        let type = platform == .tvOS ? "tvOS" : "iOS"
        #expect(app.server.calls(.CFG)[0].parameters["deviceType"] == (rest == .v1 ? type : nil))
        try app.requireDeviceType(type)
    }

    @Test("a moment that is none is no session", arguments: ["1e300", "-1", "253402300800000", "\"1e999\"", "\"soon\""])
    func refusesMoments(text: String) async throws {
        let app = TestApp()
        try await app.configure()
        app.server.always(.AUN, .status(200, #"{"mvpd":"plain","userId":"u","expires":\#(text)}"#))
        app.enabler.setSelectedProvider("plain")
        try await app.until("setAuthenticationStatus(0") { app.enabler.checkAuthentication() }
        #expect(app.enabler.client.stateStore.sessions.isEmpty)
    }

    @Test("client-sdk #76: so it is in all calls of a sign-in by the platform", arguments: DeviceDescription.Platform.allCases)
    func namesDeviceTypeThroughout(platform: DeviceDescription.Platform) async throws {
        let app = TestApp(platform, scenario: SignOutTests.bySystem)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
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

    @Test("a device whose clock is off by a day is told, and its session is good as long as the server says", arguments: RestVersion.allCases)
    func correctsClock(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        app.server.change { [now = app.clock.now] in $0.date = now }
        app.clock.setAhead(86_400)
        #expect(try await app.configure() == ["status(CFG100)", "setRequestorComplete(1)"])
        let end = Int64(app.clock.now.timeIntervalSince1970 - 86_400 + 3600) * 1000
        app.server.always(
            .AUN,
            .status(
                200,
                rest == .v1
                    ? #"{"mvpd":"plain","userId":"u","expires":"\#(end)"}"#
                    : #"{"profiles":{"plain":{"notAfter":\#(end),"type":"regular","attributes":{"userID":{"value":"u","state":"plain"}}}}}"#))
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
        if request.url.path.hasPrefix("/api/v1/config") || request.url.path.hasSuffix("/configuration") {
            while !fast.names.contains(.CFG) { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(30))
        }
        return try await slow.send(request)
    }
}
