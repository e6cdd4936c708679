@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// client-sdk §2.7, row by row.
@Suite("client-sdk §2.7: Automatic Sign-In")
@MainActor
struct AutoSignInTests {
    private struct Device {
        let account: SimulatedAppleAccount
        let platform: SimulatedAutoSignIn
        let app: TestApp
        @MainActor var client: EntitlementClient { app.enabler.client }
    }

    private func device(
        value: String? = nil, _ authorization: AutoSignInAuthorization = .notDetermined, answer: SimulatedAutoSignIn.Answer = .granted,
        hasPrompt: Bool = true, rest: RestVersion = .v1
    ) async throws -> Device {
        let account = SimulatedAppleAccount()
        account.set(value, authorization)
        let platform = SimulatedAutoSignIn(account: account, answer: answer, hasPrompt: hasPrompt)
        let app = TestApp(rest: rest) { $0.autoSignIn = platform }
        try await app.configure()
        app.forget()
        return Device(account: account, platform: platform, app: app)
    }

    @Test("client-sdk #86 S1: launched with a valid T, the value is not read", arguments: RestVersion.allCases)
    func keepsSession(rest: RestVersion) async throws {
        let device = try await device(value: "asi1.value", .granted, rest: rest)
        try await device.app.signInOrdinarily()
        #expect(try await device.client.redeemAutomaticSignIn()?.provider == "plain")
        #expect(device.platform.calls.isEmpty && device.app.server.calls.isEmpty)
    }

    @Test("client-sdk #86 S2: a value that is granted is redeemed", arguments: RestVersion.allCases)
    func redeems(rest: RestVersion) async throws {
        let device = try await device(value: "asi1.value", .granted, rest: rest)
        let session = try #require(try await device.client.redeemAutomaticSignIn())
        #expect(session.provider == "harbor" && session.source == .regular)
        #expect(device.app.server.names == [.redeem, .AUN])
        let call = device.app.server.calls[0]
        #expect(call.json == ["value": "asi1.value", "bundleId": "example.acme.tv", "environment": "sandbox"])
        #expect(call.request.header("AP-Device-Identifier") == "fingerprint \(Data("device-1".utf8).base64EncodedString())")
        #expect(call.request.header("Idempotency-Key") != nil)
        #expect(try await device.app.check() == ["setAuthenticationStatus(1,)"])
    }

    @Test(
        "client-sdk #86 S3, S4: a redeem that is refused or fails leads to the ordinary sign-in, the value stays",
        arguments: [
            FakeServer.Answer.status(401, #"{"code":"token_revoked"}"#), .status(403, #"{"code":"subscription_required"}"#),
            .status(400, #"{"code":"environment_mismatch"}"#), .status(429), .status(503), .unreachable, .captivePortal,
        ], RestVersion.allCases)
    func goesOnAfterRefusal(answer: FakeServer.Answer, rest: RestVersion) async throws {
        let device = try await device(value: "asi1.value", .granted, rest: rest)
        device.app.server.next(.redeem, answer)
        #expect(try await device.client.redeemAutomaticSignIn() == nil)
        #expect(device.account.token.value == "asi1.value" && device.platform.calls == [.read])
        device.app.relaunch()
        try await device.app.configure()
        #expect(try await device.client.redeemAutomaticSignIn() != nil, "tried again at the next launch")
    }

    @Test(
        "client-sdk #86 S5: no value, another authorization, or a read that throws",
        arguments: [(nil, AutoSignInAuthorization.granted, false), ("v", .notDetermined, false), ("v", .denied, false), ("v", .granted, true)],
        RestVersion.allCases)
    func needsValue(found: (value: String?, authorization: AutoSignInAuthorization, fails: Bool), rest: RestVersion) async throws {
        let device = try await device(value: found.value, found.authorization, rest: rest)
        if found.fails { device.platform.setFaults([.read]) }
        #expect(try await device.client.redeemAutomaticSignIn() == nil)
        #expect(device.app.server.calls.isEmpty)
    }

    @Test("client-sdk #86 S6: after an ordinary sign-in: prompt once, issue, update, stored", arguments: RestVersion.allCases)
    func enables(rest: RestVersion) async throws {
        let device = try await device(rest: rest)
        try await device.app.signInOrdinarily()
        #expect(try await device.client.enableAutomaticSignIn())
        #expect(device.platform.calls == [.read, .prompt, .update])
        #expect(device.app.server.names == [.issue, .stored])
        #expect(device.app.server.calls[0].json["contextAuthorization"] == "granted")
        #expect(device.app.server.calls[1].json == ["outcome": "stored"])
        #expect(device.account.token.value == "asi1.value")
    }

    @Test("client-sdk #86 S6: an update that throws is told to the server", arguments: RestVersion.allCases)
    func tellsFailedUpdate(rest: RestVersion) async throws {
        let device = try await device(rest: rest)
        try await device.app.signInOrdinarily()
        device.platform.setFaults([.update])
        await #expect(throws: EntitlementError.self) { try await device.client.enableAutomaticSignIn() }
        #expect(device.app.server.calls.last?.json == ["outcome": "failed"])
        #expect(try await device.app.until("setToken") { device.app.enabler.checkAuthorization("NEWS") } == ["setToken(NEWS)"])
    }

    @Test(
        "client-sdk #86 S6: a prompt that is refused or dismissed leaves playing alone", arguments: [SimulatedAutoSignIn.Answer.denied, .dismissed],
        RestVersion.allCases)
    func goesOnWithoutOptIn(answer: SimulatedAutoSignIn.Answer, rest: RestVersion) async throws {
        let device = try await device(answer: answer, rest: rest)
        try await device.app.signInOrdinarily()
        #expect(try await !device.client.enableAutomaticSignIn())
        #expect(device.app.server.calls.isEmpty)
        #expect(try await device.app.until("setToken") { device.app.enabler.checkAuthorization("NEWS") } == ["setToken(NEWS)"])
        if answer == .denied {
            #expect(try await !device.client.enableAutomaticSignIn())
            #expect(device.platform.calls == [.read, .prompt, .read], "not asked again")
        }
    }

    @Test("client-sdk #86 S6: no prompt without one, and none without an ordinary sign-in", arguments: RestVersion.allCases)
    func asksOnlyWhenItMay(rest: RestVersion) async throws {
        let mac = try await device(hasPrompt: false, rest: rest)
        try await mac.app.signInOrdinarily()
        #expect(try await !mac.client.enableAutomaticSignIn())
        #expect(mac.platform.calls.isEmpty)
        let signedOut = try await device(rest: rest)
        await #expect(throws: EntitlementError.notAuthenticated) { try await signedOut.client.enableAutomaticSignIn() }
        let redeemed = try await device(value: "asi1.value", .granted, rest: rest)
        _ = try await redeemed.client.redeemAutomaticSignIn()
        await #expect(throws: EntitlementError.notAuthenticated) { try await redeemed.client.enableAutomaticSignIn() }
        let trial = try await device(rest: rest)
        try await trial.app.until("setAuthenticationStatus(1") { trial.app.enabler.setSelectedProvider("trial") }
        await #expect(throws: EntitlementError.notAuthenticated) { try await trial.client.enableAutomaticSignIn() }
        for device in [signedOut, redeemed, trial] { #expect(!device.platform.calls.contains(.prompt)) }
    }

    @Test(
        "client-sdk #86 S7: opting out revokes first, then deletes; only a session from a redeem ends", arguments: [true, false], RestVersion.allCases
    )
    func disables(redeemed: Bool, rest: RestVersion) async throws {
        let device = try await device(value: redeemed ? "asi1.value" : nil, redeemed ? .granted : .notDetermined, rest: rest)
        if redeemed {
            _ = try await device.client.redeemAutomaticSignIn()
        } else {
            try await device.app.signInOrdinarily()
            _ = try await device.client.enableAutomaticSignIn()
        }
        device.app.forget()
        try await device.client.disableAutomaticSignIn()
        #expect(device.app.server.names == [.revoke])
        #expect(device.app.server.calls[0].json == ["value": "asi1.value", "reason": "opt_out"])
        #expect(device.platform.calls.last == .delete && device.account.token.value == nil)
        #expect(try await device.app.check().last == (redeemed ? SignOutTests.out : "setAuthenticationStatus(1,)"))
    }

    @Test("client-sdk #86 S7: a server that cannot be told keeps everything as it is", arguments: RestVersion.allCases)
    func keepsValueWithoutServer(rest: RestVersion) async throws {
        let device = try await device(value: "asi1.value", .granted, rest: rest)
        _ = try await device.client.redeemAutomaticSignIn()
        device.app.server.always(.revoke, .status(503))
        await #expect(throws: EntitlementError.self) { try await device.client.disableAutomaticSignIn() }
        #expect(device.account.token.value == "asi1.value" && !device.platform.calls.contains(.delete))
        #expect(try await device.app.check() == ["setAuthenticationStatus(1,)"])
    }

    @Test(
        "client-sdk #87 S8: after a sign-out by hand the next launch does not redeem; after a sign-in by hand it may", arguments: RestVersion.allCases
    )
    func remembersSignOut(rest: RestVersion) async throws {
        let device = try await device(value: "asi1.value", .granted, rest: rest)
        _ = try await device.client.redeemAutomaticSignIn()
        try await device.app.logout()
        #expect(device.account.token.value == "asi1.value", "value and family stay")
        device.app.relaunch()
        try await device.app.configure()
        #expect(try await device.client.redeemAutomaticSignIn() == nil)
        #expect(!device.app.server.names.contains(.redeem))
        try await device.app.signInOrdinarily()
        device.app.clock.advance(3601)
        device.app.relaunch()
        try await device.app.configure()
        #expect(try await device.client.redeemAutomaticSignIn() != nil)
    }
}
