@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// Notifications of Apple's server about an account (apple §2.9).
    @Suite("Notifications of Apple")
    struct NotificationTests {
        /// The device has no session any more.
        private static func isOut(_ app: SignInApp) async throws -> Bool { try await app.status().status == 403 }

        @Test("apple #59: a withdrawn consent ends the session, in both forms, and a duplicate does nothing", arguments: ["string", "object"])
        func consentRevoked(_ form: String) async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            #expect(try await app.status().status == 200)
            let jti = UUID().uuidString
            let order: [String: any Sendable] = ["form": form, "jti": jti, "milliseconds": form == "string", "secondsAgo": -1]
            #expect(try await app.apple.notify("consent-revoked", app.account, order) == [200])
            #expect(try await Self.isOut(app))
            // A duplicate must not undo later changes.
            #expect(try await app.signIn().status == 200)
            #expect(try await app.apple.notify("consent-revoked", app.account, order.merging(["secondsAgo": -60, "applies": false]) { $1 }) == [200])
            #expect(try await app.status().status == 200)
        }

        @Test("apple #60: a deleted Apple Account ends sessions and mail", arguments: ["account-deleted", "account-delete"])
        func accountDeleted(_ type: String) async throws {
            let person = AppleTrait.person()
            let app = try await SignInApp.make()
            try await app.device.signIn(as: person)
            let link = try await app.send(try await app.credential(), to: "link")
            try #require(link.status == 200, "\(link.text)")
            let other = try await app.another()
            _ = try await other.signedIn()
            #expect(try await app.apple.notify(type, app.account, ["secondsAgo": -1]) == [200])
            #expect(try await Self.isOut(other))
            let links = try await app.links()
            #expect(links.allSatisfy { !$0.isMailAllowed && $0.state == "revoked" } && links.count == 1, "the sign-in at the MVPD stays")
        }

        @Test("apple #61: a bad signature or a foreign audience is 400 and changes nothing")
        func forged() async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            let orders: [[String: any Sendable]] = [
                ["signature": "broken"], ["signature": "none"], ["signature": "symmetric"], ["signature": "elliptic"], ["signature": "unpublished"],
                ["claims": ["aud": "example.elsewhere"], "applies": false], ["claims": ["iss": "https://elsewhere.example"], "applies": false],
            ]
            for order in orders {
                let statuses = try await app.apple.notify("consent-revoked", app.account, order.merging(["secondsAgo": -1]) { $1 })
                #expect(statuses == [400], "\(order)")
            }
            #expect(try await app.status().status == 200)
        }

        @Test("apple #62: what happened before the latest authorization is ignored")
        func old() async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            #expect(try await app.apple.notify("consent-revoked", app.account, ["secondsAgo": 3600, "applies": false]) == [200])
            #expect(try await app.status().status == 200)
        }

        @Test("apple #63: mail stops and goes on")
        func mail() async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            #expect(try await app.links().map(\.isMailAllowed) == [true])
            #expect(try await app.apple.notify("email-disabled", app.account, ["secondsAgo": -1]) == [200])
            #expect(try await app.links().map(\.isMailAllowed) == [false])
            #expect(try await app.apple.notify("email-enabled", app.account, ["secondsAgo": -2]) == [200])
            #expect(try await app.links().map(\.isMailAllowed) == [true])
        }

        @Test("apple #83: withdrawing from one group leaves the sessions of another")
        func groups() async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            let radio = try await app.another().other("example.acme.radio")
            try await radio.signedIn()
            #expect(try await app.apple.notify("consent-revoked", app.account, client: "example.acme.radio", ["secondsAgo": -1]) == [200])
            #expect(try await Self.isOut(radio))
            #expect(try await app.status().status == 200)
        }

        @Test("apple §2.9: an unknown type is taken note of")
        func unknownType() async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            #expect(try await app.apple.notify("weather-changed", app.account) == [200])
            #expect(try await app.status().status == 200)
        }
    }
}
