@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// The proofs of a person's identity (apple §2.2, §2.4).
    @Suite("Proofs of Sign in with Apple")
    struct SignInProofTests {
        @Test("apple #37: a valid token, nonce and code make account, link and a stored refresh token")
        func valid() async throws {
            let app = try await SignInApp.make()
            let answer = try await app.signIn()
            #expect(answer.status == 200 && answer.object["isNew"] as? Bool == true, "\(answer.text)")
            #expect(answer.accountID != nil && answer.object["sessionId"] is String)
            let tokens = try await app.apple.refreshTokens(app.account)
            #expect(tokens.map(\.client) == ["example.acme.tv"] && tokens.allSatisfy { !$0.isRevoked })
            #expect(try await app.links().map(\.state) == ["active"])
        }

        @Test("apple #38: other algorithms than RS256 are refused", arguments: ["none", "symmetric", "elliptic"])
        func algorithms(_ signature: String) async throws {
            let app = try await SignInApp.make()
            let answer = try await app.send(try await app.ordered(["signature": signature]))
            #expect(answer.isRefused(401, "apple_token_algorithm"), "\(answer.text)")
        }

        @Test("apple V1, V4: a changed token is malformed or badly signed")
        func signatures() async throws {
            let app = try await SignInApp.make()
            let broken = try await app.send(try await app.ordered(["signature": "broken"]))
            #expect(broken.isRefused(401, "apple_token_signature"), "\(broken.text)")
            var credential = try await app.credential()
            credential.identityToken += ".x"
            #expect(try await app.send(credential).isRefused(401, "apple_token_malformed"))
        }

        @Test("apple #39 #40: keys come and go; an unknown one is fetched once a minute")
        func keys() async throws {
            let app = try await SignInApp.make()
            let old = try #require(try await app.apple.keys().first { $0.signs }).id
            let added = try #require(try await app.apple.keys(["action": "add"]).last { $0.isPublished }).id
            _ = try await app.apple.keys(["action": "promote", "kid": added])
            _ = try await app.apple.keys(["action": "drop", "kid": old])
            let dropped = try await app.send(try await app.ordered(["kid": old]))
            #expect(dropped.isRefused(401, "apple_key_unknown"), "\(dropped.text)")
            // From here the keys may be kept.
            try await app.apple.control("behaviour", ["keysMaxAgeSeconds": 3600])
            #expect(try await app.signIn().status == 200)
            var credential = try await app.credential()
            let new = try #require(try await app.apple.keys(["action": "signUnpublished"]).first { $0.signs }).id
            credential = try await app.credential()
            _ = try await app.apple.keys(["action": "publish", "kid": new])
            let before = try await app.apple.count("keys")
            let late = try await app.send(credential)
            #expect(late.status == 200, "\(late.text)")
            #expect(try await app.apple.count("keys") == before + 1)
            _ = try await app.apple.keys(["action": "signUnpublished"])
            let unknown = try await app.send(try await app.credential())
            #expect(unknown.isRefused(401, "apple_key_unknown"), "\(unknown.text)")
            #expect(try await app.apple.count("keys") == before + 1, "no second fetch in the same minute")
            _ = try await app.apple.keys(["action": "promote", "kid": new])
        }

        @Test("apple #41: wrong issuer, another app's audience and the end of the token have a code each")
        func claims() async throws {
            let app = try await SignInApp.make()
            let now = Int(Date().timeIntervalSince1970)
            let cases: [([String: any Sendable], String)] = [
                (["iss": "https://appleid.apple.com/"], "apple_token_issuer"), (["aud": "example.acme.radio"], "apple_token_audience"),
                (["exp": now], "apple_token_expired"), (["iat": now + 3600], "apple_token_expired"),
            ]
            for (claims, code) in cases {
                let answer = try await app.send(try await app.ordered(["claims": claims]))
                #expect(answer.isRefused(401, code), "\(claims): \(answer.text)")
            }
            #expect(try await app.apple.refreshTokens(app.account).isEmpty)
        }

        @Test("apple #42: a token without the nonce is refused where nonces are supported")
        func missingNonce() async throws {
            let app = try await SignInApp.make()
            try await app.apple.setUser(app.account, ["nonce": "dropped"])
            #expect(try await app.signIn().isRefused(401, "apple_nonce_mismatch"))
        }

        @Test("apple #43: without support of nonces a good code is needed", arguments: ["unsupported", "unstated"])
        func unsupportedNonce(_ support: String) async throws {
            let app = try await SignInApp.make()
            try await app.apple.setUser(app.account, ["nonce": support])
            var without = try await app.credential()
            without.code = nil
            #expect(try await app.send(without).isRefused(401, "apple_nonce_mismatch"))
            var bad = try await app.ordered(["claims": Self.withoutHash])
            bad.code = "made-up"
            let refused = try await app.send(bad)
            #expect(refused.isRefused(401, "apple_grant_invalid"), "\(refused.text)")
            #expect(try await app.signIn().status == 200)
        }

        @Test("apple #44: a nonce is good once, for its device and its app")
        func nonceTwice() async throws {
            let app = try await SignInApp.make()
            let nonce = try await app.nonce()
            let first = try await app.credential(nonce: nonce)
            #expect(try await app.another().send(first).isRefused(401, "apple_nonce_mismatch"))
            #expect(try await app.send(first).status == 200)
            #expect(try await app.send(try await app.credential(nonce: nonce)).status == 401)
            #expect(try await app.send(try await app.credential(nonce: "my own")).isRefused(401, "apple_nonce_mismatch"))
        }

        @Test("apple #46: a code that was used or is older than 300 s is refused")
        func codes() async throws {
            let app = try await SignInApp.make()
            let used = try await app.ordered(["claims": Self.withoutHash])
            #expect(try await app.send(used).status == 200)
            var again = try await app.ordered(["claims": Self.withoutHash])
            again.code = used.code
            let refused = try await app.send(again)
            #expect(refused.isRefused(401, "apple_grant_invalid"), "\(refused.text)")
            let late = try await app.credential()
            try await app.apple.control("clock", ["offsetSeconds": 301])
            let answer = try await app.send(late)
            try await app.apple.control("clock", ["offsetSeconds": 0])
            #expect(answer.isRefused(401, "apple_grant_invalid"), "\(answer.text)")
        }

        @Test("apple #47: a code of the Services ID is no code of the app")
        func foreignCode() async throws {
            let app = try await SignInApp.make()
            var credential = try await app.ordered(["claims": Self.withoutHash])
            credential.code = try await app.ordered(["clientId": "example.acme.web"]).code
            let answer = try await app.send(credential)
            #expect(answer.isRefused(401, "apple_grant_invalid"), "\(answer.text)")
        }

        @Test("apple #48: a code of another person makes no account")
        func otherPersonsCode() async throws {
            let app = try await SignInApp.make()
            let other = try await SignInApp.make()
            var credential = try await app.ordered(["claims": Self.withoutHash])
            credential.code = try await other.credential(nonce: credential.nonce).code
            let answer = try await app.send(credential)
            #expect(answer.isRefused(401, "apple_token_subject"), "\(answer.text)")
            for person in [app, other] {
                #expect(try await person.signIn(create: false).isRefused(409, "confirmation_required"))
            }
        }

        @Test("apple §2.11: while Apple is away nothing is spent, and the same proof serves later")
        func appleAway() async throws {
            let app = try await SignInApp.make()
            let credential = try await app.credential()
            let body: [String: any Sendable] = [
                "endpoint": "token", "faults": [["kind": "answer", "status": 503, "times": 0] as [String: any Sendable]],
            ]
            try await app.apple.control("faults", body)
            let away = try await app.send(credential)
            _ = try await app.apple.send("DELETE", "/_control/faults")
            #expect(away.isRefused(503, "apple_unavailable"), "\(away.text)")
            let later = try await app.send(credential)
            #expect(later.status == 200, "\(later.text)")
        }

        /// The token has no claim about a code.
        static var withoutHash: [String: any Sendable] { ["c_hash": NSNull()] }
    }
}
