import Foundation
import Hummingbird
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The controls of the stand-in Apple (apple §3).
@Suite struct AppleControlTests {
    @Test(arguments: [
        ("POST", "clock", #"{"offsetSeconds": 1, "colour": 1}"#), ("POST", "behaviour", #"{"colour": 1}"#),
        ("POST", "keys", #"{"action": "add", "colour": 1}"#), ("PUT", "users/ann", #"{"colour": 1}"#),
        ("PUT", "groups/g", #"{"team": "ACMETEAM01", "bundleIDs": [], "colour": 1}"#),
        ("POST", "faults", #"{"endpoint": "token", "faults": [{"kind": "reset", "colour": 1}]}"#),
        ("POST", "identity-tokens", #"{"account": "ann", "clientId": "example.acme.tv", "colour": 1}"#),
        ("POST", "notifications", #"{"type": "x", "account": "ann", "clientId": "example.acme.tv", "colour": 1}"#),
        ("POST", "transfers", #"{"group": "example.acme.tv", "team": "BRAVOTEAM1", "colour": 1}"#),
        ("PUT", "tokens", #"{"account": "a", "bundleId": "b", "authorization": "granted", "colour": 1}"#),
    ])
    func anUnknownKeyIsNamed(_ method: String, _ path: String, _ body: String) async throws {
        try await AppleParty.run { apple in
            let reply = try await apple.send(method == "PUT" ? .put : .post, "/_control/\(path)", body)
            #expect(reply.status == 400 && reply.text.contains("colour"), "\(reply.status) \(reply.text)")
        }
    }

    @Test(arguments: [
        ("users/ann", #"{"realUserStatus": 3}"#, "realUserStatus"), ("groups/g", #"{"team": "x", "bundleIDs": []}"#, "team"),
        ("groups/g", #"{"team": "ACMETEAM01", "bundleIDs": ["example.acme.tv"]}"#, "example.acme.tv"),
    ])
    func whatCannotBeIsNamed(_ path: String, _ body: String, _ key: String) async throws {
        try await AppleParty.run { apple in
            let reply = try await apple.send(.put, "/_control/\(path)", body)
            #expect(reply.status == 400 && reply.text.contains(key))
        }
    }

    @Test func groupsCanBeAdded() async throws {
        try await AppleParty.run { apple in
            try await apple.control("groups/new", #"{"team": "ACMETEAM01", "bundleIDs": ["example.acme.new"]}"#, .put)
            let signIn = try await apple.signIn("/_device/accounts/ann/apps/example.acme.new")
            #expect(try AppleParty.claims(signIn["identityToken"])["aud"] as? String == "example.acme.new")
        }
    }

    @Test func peopleAreAsTheyAreSet() async throws {
        try await AppleParty.run { apple in
            let set = #"{"mail": "relay", "flags": "text", "realUserStatus": 1, "nonce": "unsupported"}"#
            try await apple.control("users/ann", set, .put)
            let claims = try AppleParty.claims(try await apple.signIn(AppleParty.native, #"{"nonce": "n"}"#)["identityToken"])
            #expect(claims["email_verified"] as? String == "true" && claims["is_private_email"] as? String == "true")
            #expect((claims["email"] as? String)?.hasSuffix("@privaterelay.appleid.com") == true)
            #expect(claims["nonce"] == nil && claims["nonce_supported"] as? Bool == false && claims["real_user_status"] as? Int == 1)
            try await apple.control("users/bob", #"{"mail": "missing", "nonce": "unstated"}"#, .put)
            let other = try AppleParty.claims(
                try await apple.signIn("/_device/accounts/bob/apps/example.acme.tv", #"{"nonce": "n"}"#)["identityToken"])
            #expect(other["email"] == nil && other["nonce"] == nil && other["nonce_supported"] == nil)
            let known = try await apple.get("/_control/users/ann")
            #expect((known.json["subjects"] as? [String: String])?["ACMETEAM01"] == claims["sub"] as? String)
        }
    }

    @Test func notificationsComeInEveryForm() async throws {
        try await AppleParty.run { apple in
            let order = #"{"type": "email-disabled", "account": "ann", "clientId": "example.acme.tv", "posts": 0"#
            let text = try await apple.post("/_control/notifications", order + #", "jti": "j-1", "milliseconds": true, "secondsAgo": 60}"#)
            let claims = try AppleParty.claims(text["payload"])
            #expect(claims["aud"] as? String == "example.acme.tv" && claims["jti"] as? String == "j-1" && claims["exp"] == nil)
            let events = try #require(claims["events"] as? String)
            let event = try #require(try JSONSerialization.jsonObject(with: Data(events.utf8)) as? [String: Any])
            #expect(event["type"] as? String == "email-disabled" && event["event_time"] as? Int == Int(apple.clock.now().milliseconds) - 60_000)
            let object = try await apple.post("/_control/notifications", order + #", "form": "object", "expires": true}"#)
            let other = try AppleParty.claims(object["payload"])
            #expect((other["events"] as? [String: Any])?["event_time"] as? Int == Int(apple.clock.now().seconds) && other["exp"] != nil)
            for seconds in [Int64.max, .min] {
                let ages = try await apple.post("/_control/notifications", order + #", "form": "object", "secondsAgo": \#(seconds)}"#)
                #expect(ages["payload"]?.isEmpty == false, "\(ages)")
            }
            let bad = try await apple.post("/_control/notifications", order + #", "signature": "none", "claims": {"aud": "x"}}"#)
            #expect(try AppleParty.header(bad["payload"])["alg"] as? String == "none")
            #expect(try AppleParty.claims(bad["payload"])["aud"] as? String == "x")
        }
    }

    @Test func withdrawnConsentEndsTheGroupsTokens() async throws {
        try await AppleParty.run { apple in
            let token = try await apple.refreshToken()
            let other = try await apple.refreshToken("/_device/accounts/ann/apps/example.acme.radio", client: "example.acme.radio")
            let order = #"{"type": "consent-revoked", "account": "ann", "clientId": "example.acme.sports", "posts": 0}"#
            try await apple.control("notifications", order)
            let refresh = ("grant_type", "refresh_token")
            #expect(try await apple.form("token", [refresh, ("refresh_token", token)])["error"] == "invalid_grant")
            #expect(try await apple.form("token", [refresh, ("refresh_token", other)], client: "example.acme.radio").status == 200)
        }
    }

    @Test func theClockCanBePutAhead() async throws {
        try await AppleParty.run { apple in
            let code = try #require(try await apple.signIn()["code"])
            try await apple.control("clock", #"{"offsetSeconds": 300}"#)
            #expect(try await apple.exchange(code)["error"] == "invalid_grant")
        }
    }

    @Test func theLogHoldsHashesForSecrets() async throws {
        try await AppleParty.run { apple in
            let code = try #require(try await apple.signIn()["code"])
            let refresh = try #require(try await apple.exchange(code)["refresh_token"])
            _ = try await apple.form("revoke", [("token", refresh)])
            _ = try await apple.store("delete", #"{"autoSignInTokenValue": "asi1.secret"}"#)
            let log = try await apple.get("/_control/log")
            for secret in [code, refresh, "asi1.secret"] { #expect(!log.text.contains(secret)) }
            let entries = try #require(log.json["entries"] as? [[String: Any]])
            let fields = try #require(entries.first { $0["endpoint"] as? String == "token" }?["fields"] as? [String: String])
            #expect(fields["code"] == "sha256:" + Hexadecimal.text(Digest.sha256(Array(code.utf8))) && fields["client_id"] == "example.acme.tv")
            #expect(fields["client_secret.kid"] == "ACMESIGN01" && fields["client_secret"]?.hasPrefix("sha256:") == true)
            let deleted = try #require(entries.last { $0["endpoint"] as? String == "delete" })
            #expect(deleted["status"] as? Int == 404 && (deleted["fields"] as? [String: String])?["bearer.bid"] == "example.acme.tv")
            #expect((log.json["counters"] as? [String: Int])?["token"] == 1)
            let secrets = try await apple.get("/_control/secrets")
            #expect((secrets.json["refreshTokens"] as? [String]) == [refresh] && (secrets.json["codes"] as? [String]) == [code])
            #expect((secrets.json["credentials"] as? [String])?.count == 3)
        }
    }

    @Test func resetForgetsEverythingButRepeatsNothing() async throws {
        try await AppleParty.run(seed: "s") { apple in
            let first = try await apple.signIn()
            try await apple.control("faults", #"{"endpoint": "keys", "faults": [{"kind": "reset", "times": 0}]}"#)
            try await apple.control("reset", "")
            #expect(try await apple.get("/appleid/auth/keys").status == 200)
            #expect(try await apple.get("/_control/refresh-tokens").list.isEmpty)
            let second = try await apple.signIn(AppleParty.native, #"{"scopes": ["name"]}"#)
            #expect(second.json["user"] != nil && second["code"] != first["code"] && second["userID"] == first["userID"])
        }
    }

    @Test func itIsReadyWhenItsHealthSaysSo() async throws {
        try await AppleParty.run { apple in
            let health = try await apple.get("/_health")
            #expect(health.status == 200)
        }
    }
}
