@testable import WorkshopCommands
import Foundation
import Testing

extension AppleTests {
    /// Opting in.
    @Suite("Issuing values")
    struct IssueTests {
        private static var form: Regex<Substring> { /asi1\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/ }

        @Test("apple #1: a fresh session and a granted context get a value, active once it is stored")
        func issued() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let answer = try await app.issue()
            #expect(answer.status == 201 && answer.header("cache-control") == "no-store")
            #expect(Set(answer.object.keys) == ["familyId", "accountId", "value", "expiresAt"])
            let value = try #require(answer.object["value"] as? String)
            #expect(value.utf8.count == 71 && value.wholeMatch(of: Self.form) != nil)
            let family = try #require(answer.object["familyId"] as? String)
            #expect(try await app.state(of: family) == "pending")
            #expect(try await app.confirm(family).object["state"] as? String == "active")
            #expect(try await app.state(of: family) == "active")
            #expect(try await app.confirm("another").status == 404)
        }

        @Test("apple #1: a value that could not be stored opens nothing")
        func notStored() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let issued = try await app.issue().object
            let family = try #require(issued["familyId"] as? String)
            #expect(try await app.confirm(family, "failed").object["state"] as? String == "revoked")
            let redeemed = try await app.another().redeem(try #require(issued["value"] as? String))
            #expect(redeemed.status == 401 && redeemed.object["code"] as? String == "token_revoked")
        }

        @Test("apple #2: without a granted context nothing is kept", arguments: ["denied", "notDetermined"])
        func notGranted(authorization: String) async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let answer = try await app.issue(authorization)
            #expect(answer.status == 403 && answer.object["code"] as? String == "opt_in_required")
            #expect(try await app.families().isEmpty)
        }

        @Test("apple #3: a device that was signed in by a value gets none itself")
        func automaticSession() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let other = try await app.another()
            try await other.signInBy(optIn.value)
            let answer = try await other.issue()
            #expect(answer.status == 401 && answer.object["code"] as? String == "session_not_fresh")
        }

        @Test("apple #4: values repeat neither id nor secret, and tell nothing of the account")
        func distinct() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            var parts: [Substring] = []
            var account = ""
            for _ in 0..<10 {
                let answer = try await app.issue().object
                parts += try #require(answer["value"] as? String).split(separator: ".").dropFirst()
                account = try #require(answer["accountId"] as? String)
            }
            #expect(Set(parts).count == 20)
            #expect(!parts.contains { $0.contains(account) })
        }

        @Test("apple #34: the same key twice on IssueToken gives one opt-in and the same answer; with another request it is refused")
        func sameKey() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let key = UUID().uuidString
            let (first, second) = (try await app.issue(key: key), try await app.issue(key: key))
            #expect(first.status == 201 && second.status == 201 && first.text == second.text)
            #expect((try await app.list().object["families"] as? [Any])?.count == 1)
            let other = try await app.post(
                "tokens", ["bundleId": app.apple.bundleID, "environment": "production", "contextAuthorization": "granted"], key: key)
            #expect(other.status == 409 && other.object["code"] as? String == "idempotency_key_reused")
        }

        @Test("apple #75: without the integration's flag there is no automatic sign-in")
        func withoutFlag() async throws {
            let app = try await AppleApp.make()
            try await app.device.signIn(at: "LakeTel")
            let refused = try await app.issue()
            #expect(refused.status == 403 && refused.object["code"] as? String == "subscription_required", "\(refused.text)")
            let (flagged, optIn) = try await AppleApp.optedIn()
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.set(integrationOf: "ACME1", with: "NorthCable", ["autoSignIn": false])
            let other = try await flagged.another()
            try await Condition.wait("redeeming needs the flag") {
                try await other.another().redeem(optIn.value).object["code"] as? String == "subscription_required"
            }
            try edit.undo()
            try await Condition.wait("the flag is back") { try await flagged.another().redeem(optIn.value).status == 200 }
        }

        @Test("apple #76: neither a TempPass nor a degraded session is a login")
        func withoutLogin() async throws {
            let app = try await AppleApp.make()
            let fields = ["requestor_id": "ACME1", "deviceId": app.device.id, "mso_id": "Preview10", "domain_name": app.device.domain]
            let preview = Call.form("/api/v1/authenticate/freepreview", fields.map { ($0.key, $0.value) }, headers: app.device.headers)
            try #require(try await app.device.cluster.send(preview).status == 204)
            let trial = try await app.issue()
            #expect(trial.status == 401 && trial.object["code"] as? String == "session_not_fresh", "\(trial.text)")
            let degraded = try await AppleApp.make("ACME2")
            try await DegradationControl.running().during("AuthNAll", at: "ACME2") {
                // A sign-in that begins before the rule has reached the services goes to the MVPD.
                try await Condition.wait("the device is let in") {
                    _ = try await degraded.device.authenticate(try await degraded.device.code())
                    return try await degraded.device.checkAuthn() == 200
                }
                let answer = try await degraded.issue()
                #expect(answer.status == 401 && answer.object["code"] as? String == "session_not_fresh", "\(answer.text)")
            }
        }
    }
}
