@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import Testing

extension AppleTests {
    /// The behaviour of the system and the app on a device (apple §1.1).
    @Suite("On the device")
    struct DeviceRuleTests {
        @Test("apple #28: who dismisses the sheet streams on without a value, and is asked again only when the app asks")
        func dismissal() async throws {
            let app = try await AppleApp.make()
            let launched = try await app.launched(approves: false)
            try await launched.signIn(as: AppleTrait.person())
            #expect(try await !launched.client.enableAutomaticSignIn())
            let token = try await app.apple.token()
            #expect(token.value == nil && token.authorization == "notDetermined")
            #expect(try await app.families().isEmpty)
            #expect(try await app.device.authorize("ACME1-NEWS").status == 200)
        }

        @Test("apple #29: what one device deletes, all devices lose")
        func deviceDeletes() async throws {
            let (app, _) = try await AppleApp.optedIn()
            let other = try await app.another()
            #expect(try await other.apple.token().value != nil)
            try await app.apple.delete()
            for device in [app, other] {
                let token = try await device.apple.token()
                #expect(token.value == nil && token.authorization == "notDetermined")
            }
        }

        @Test("apple #30: after a Delete by the server an old approval stores nothing")
        func serverDeletes() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let early = try await app.apple.requestAuthorization(.approve)
            #expect(try await app.optOut(optIn.family).status == 200)
            try await Condition.wait("Apple deletes the value", within: .seconds(30)) { try await app.apple.token().value == nil }
            await #expect(throws: CommandFailure.self) { try await app.apple.update(optIn.value, early) }
            _ = try await app.optIn()
        }

        @Test("apple #31: a tvOS device also looks at the system's default account, and no further")
        func defaultAccount() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let guest = try await AppleApp.make()
            try await guest.apple.register(defaultAccount: app.apple.account)
            #expect(try await guest.apple.token().value == optIn.value)
            #expect(try await guest.launched().redeems())
            let stranger = try await AppleApp.make()
            try await stranger.apple.register(defaultAccount: UUID().uuidString)
            #expect(try await stranger.apple.token().value == nil)
            #expect(try await !stranger.launched().redeems())
        }

        @Test("apple #32: an approval stores one value")
        func contextTwice() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let prompt = try await app.apple.requestAuthorization(.approve)
            let value = try #require(try await app.issue().object["value"] as? String)
            try await app.apple.update(value, prompt)
            await #expect(throws: CommandFailure.self) { try await app.apple.update("another", prompt) }
            #expect(try await app.apple.token().value == value)
        }

        @Test("apple #66: a value that the person has not granted is left alone", arguments: ["denied", "notDetermined"])
        func notGranted(authorization: String) async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            try await AppleControl.running().setToken(app, value: optIn.value, authorization: authorization)
            let other = try await app.another()
            #expect(try await !other.launched().redeems())
            #expect(try await other.device.checkAuthn() == 403)
        }

        // client-sdk #87 goes on from here, with a clock that makes the session end.
        @Test("apple #67: after a sign-out by hand the app does not redeem until the person has signed in by hand")
        func signOutByHand() async throws {
            let person = AppleTrait.person()
            let (app, _) = try await AppleApp.optedIn(as: person)
            let other = try await app.another()
            let launched = try await other.launched()
            let nobody = SimulatedViewer(launched, provider: nil, .waits)
            #expect(try await launched.redeems())
            _ = try await launched.client.signOut(interaction: nobody)
            #expect(try await !launched.redeems())
            #expect(try await other.device.checkAuthn() == 403)
            try await launched.signIn(as: person)
            #expect(try await other.device.checkAuthn() == 200)
        }
    }
}
