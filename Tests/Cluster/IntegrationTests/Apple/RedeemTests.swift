@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// Signing in by a value.
    @Suite("Redeeming values")
    struct RedeemTests {
        private static let scopes = ["stream:play", "stream:progress", "watchlist:read", "watchlist:write"]

        @Test("apple #5: a second device is signed in for streaming, and plays")
        func secondDevice() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let other = try await app.another()
            #expect(try await other.apple.token().value == optIn.value)
            let answer = try await other.redeem(optIn.value)
            #expect(answer.status == 200)
            #expect(
                Set(answer.object.keys) == ["profiles", "accountId", "sessionId", "scopes", "expiresAt", "rotateSoon"])
            #expect((answer.object["scopes"] as? [String])?.sorted() == Self.scopes && answer.object["rotateSoon"] as? Bool == false)
            #expect(answer.object["accountId"] as? String == optIn.account)
            let profile = (answer.object["profiles"] as? [String: [String: Any]])?["NorthCable"]
            #expect(profile?["type"] as? String == "regular" && profile?["issuer"] as? String == "NorthCable")
            #expect(try await other.device.checkAuthn() == 200)
            #expect(try await other.device.authorize("ACME1-NEWS").status == 200)
            #expect(try await other.device.mediaToken("ACME1-NEWS").status == 200)
        }

        @Test("apple #6 #86: that session may do nothing with the account but end its own opt-in")
        func stepUp() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let other = try await app.another()
            try await other.signInBy(optIn.value)
            let list = try await other.list()
            #expect(list.status == 403 && list.object["code"] as? String == "step_up_required")
            #expect(Set(list.object.keys) == ["action", "status", "code", "message", "helpUrl", "trace"])
            #expect(try await other.post("web-link", [:]).status == 403)
            #expect(try await other.optOut(optIn.family).status == 200)
            #expect(try await app.state(of: optIn.family) == "revoked")
        }

        @Test("apple #86: ids of another account are unknown, and nothing changes")
        func foreignIDs() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let session = try await app.another().signInBy(optIn.value)
            let (stranger, _) = try await AppleApp.optedIn()
            let revoked = try await stranger.optOut(optIn.family)
            #expect(revoked.status == 404 && revoked.object["code"] as? String == "family_unknown")
            let flagged = try await stranger.flag(session)
            #expect(flagged.status == 404 && flagged.object["code"] as? String == "session_unknown")
            let bravo = try await AppleBackend.make("bravo-backend").post("tokens/\(optIn.family)/rotate", ["reason": "risk"], requestor: "BRAVO")
            #expect(bravo.status == 404)
            #expect(try await app.state(of: optIn.family) == "active")
        }

        @Test("apple #7: three devices at once are three sessions, and the opt-in stays")
        func threeAtOnce() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let others = [try await app.another(), try await app.another(), try await app.another()]
            let sessions = try await withThrowingTaskGroup(of: String.self) { group in
                for other in others { group.addTask { try await other.signInBy(optIn.value) } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(sessions.count == 3)
            #expect(try await app.state(of: optIn.family) == "active")
        }

        @Test("apple #8: a wrong secret is answered as an unknown id is")
        func wrongSecret() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let parts = optIn.value.split(separator: ".")
            let wrong = "\(parts[0]).\(parts[1]).\(String(repeating: "A", count: 43))"
            let unknown = "\(parts[0]).\(String(repeating: "A", count: 22)).\(parts[2])"
            var bodies: Set<String> = []
            for value in [wrong, unknown, "nonsense", "asi1.."] {
                let answer = try await app.another().redeem(value)
                #expect(answer.status == 401)
                let members = answer.object.filter { $0.key != "trace" }.map { "\($0.key)=\($0.value)" }
                bodies.insert(members.sorted().joined(separator: "&"))
            }
            #expect(bodies.count == 1 && bodies.first?.contains("code=token_invalid") == true)
        }

        @Test("apple #9 #74: without a live login nothing opens, and a new one makes the same value good again")
        func subscription() async throws {
            let person = AppleTrait.person()
            let (app, optIn) = try await AppleApp.optedIn(as: person)
            #expect(try await app.device.logout() == 204)
            let refused = try await app.another().redeem(optIn.value)
            #expect(refused.status == 403 && refused.object["code"] as? String == "subscription_required")
            try await AppleApp.make().signIn(as: person)
            try await app.another().signInBy(optIn.value)
        }

        @Test("apple #10: a locked account opens nothing until it is unlocked")
        func locked() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            #expect(try await AutoSignInOperator.setLock(optIn.account, true))
            let answer = try await app.another().redeem(optIn.value)
            #expect(answer.status == 403 && answer.object["code"] as? String == "account_locked")
            #expect(try await AutoSignInOperator.setLock(optIn.account, false))
            try await app.another().signInBy(optIn.value)
        }

        @Test("apple #11: a value of Apple's sandbox opens nothing in production")
        func environment() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let answer = try await app.another().redeem(optIn.value, environment: "production")
            #expect(answer.status == 400 && answer.object["code"] as? String == "environment_mismatch")
            try await app.another().signInBy(optIn.value)
        }

        @Test("apple #33: the eleventh redeem in a minute from one address waits")
        func limit() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let other = try await app.another()
            for _ in 0..<10 { try await other.signInBy(optIn.value) }
            let answer = try await other.redeem(optIn.value)
            #expect(answer.status == 429)
            #expect(answer.header("retry-after").flatMap { Int($0) }.map { (1...60).contains($0) } == true)
            try await app.another().signInBy(optIn.value)
        }

        @Test("apple #71: six wrong secrets for one id are too many; the right value goes on")
        func guesses() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let wrong = optIn.value.split(separator: ".").dropLast().joined(separator: ".") + "." + String(repeating: "A", count: 43)
            for _ in 0..<5 { #expect(try await app.another().redeem(wrong).status == 401) }
            let answer = try await app.another().redeem(wrong)
            #expect(answer.status == 429 && answer.object["code"] as? String == "rate_limited" && answer.header("retry-after") != nil)
            try await app.another().signInBy(optIn.value)
        }

        @Test("apple #68: a value that was never confirmed is confirmed by its first use")
        func unconfirmed() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let issued = try await app.issue().object
            try await app.another().signInBy(try #require(issued["value"] as? String))
            #expect(try await app.state(of: try #require(issued["familyId"] as? String)) == "active")
        }

        @Test("apple #72: of the person such a session tells user, channels and rating at most")
        func metadata() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let other = try await app.another()
            let answer = try await other.redeem(optIn.value)
            let profile = (answer.object["profiles"] as? [String: [String: Any]])?["NorthCable"]
            let attributes = profile?["attributes"] as? [String: Any] ?? [:]
            #expect(attributes["userID"] != nil && Set(attributes.keys).isSubset(of: ["userID", "channelID", "maxRating"]))
            let told = try await other.device.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any] ?? [:]
            #expect(told["userID"] != nil && Set(told.keys).isSubset(of: ["userID", "channelID", "maxRating"]))
            let own = try await app.device.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any] ?? [:]
            #expect(own["householdID"] != nil)
        }

        @Test("apple #73: the session ends with the login behind it")
        func expiry() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let other = try await app.another()
            try await other.signInBy(optIn.value)
            let expiries = [try await app.device.authnToken(), try await other.device.authnToken()].map { $0.object["expires"] as? String }
            #expect(expiries[0] != nil && expiries[0] == expiries[1])
        }

        @Test("apple #77: a logout on one device leaves the others and the opt-in")
        func logout() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let (second, third) = (try await app.another(), try await app.another())
            try await second.signInBy(optIn.value)
            try await third.signInBy(optIn.value)
            #expect(try await second.device.logout() == 204)
            #expect(try await second.device.checkAuthn() == 403)
            #expect(try await third.device.checkAuthn() == 200)
            #expect(try await app.state(of: optIn.family) == "active")
        }
    }
}
