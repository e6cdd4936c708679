import Clocks
import Foundation
import Hummingbird
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Codes, client secrets, refresh tokens and revocation (apple §2.4, §2.5, §2.11).
@Suite struct AppleTokenTests {
    private static let refresh = ("grant_type", "refresh_token")

    private static func expect(_ reply: AppleParty.Reply, _ error: String, _ comment: Comment? = nil, at place: SourceLocation = #_sourceLocation) {
        #expect(reply.status == 400 && reply.text == #"{"error":"\#(error)"}"#, comment, sourceLocation: place)
        #expect(reply.headers[.contentType] == "application/json" && reply.headers[.cacheControl] == "no-store", sourceLocation: place)
        #expect(reply.headers.contains { $0.name.canonicalName == "pragma" && $0.value == "no-cache" }, sourceLocation: place)
    }

    @Test func aNativeSignInGivesACodeThatTheAppExchanges() async throws {
        try await AppleParty.run { apple in
            let signIn = try await apple.signIn(AppleParty.native, #"{"nonce": "n-1", "state": "s-1", "scopes": ["name", "email"]}"#)
            #expect(signIn["state"] == "s-1")
            let claims = try AppleParty.claims(signIn["identityToken"])
            #expect(claims["iss"] as? String == "https://appleid.apple.com" && claims["aud"] as? String == "example.acme.tv")
            #expect(claims["nonce"] as? String == "n-1" && claims["nonce_supported"] as? Bool == true && claims["real_user_status"] as? Int == 2)
            #expect(claims["sub"] as? String == signIn["userID"] && claims["c_hash"] != nil)
            let reply = try await apple.exchange(try #require(signIn["code"]))
            #expect(reply.status == 200 && reply.headers[.cacheControl] == "no-store")
            #expect(reply["token_type"]?.lowercased() == "bearer" && reply.json["expires_in"] as? Int == 3600 && reply["access_token"] != nil)
            #expect(try AppleParty.claims(reply["id_token"])["sub"] as? String == signIn["userID"])
            #expect(try AppleParty.claims(reply["id_token"])["at_hash"] != nil)
        }
    }

    @Test func nameAndStatusComeOnce() async throws {
        try await AppleParty.run { apple in
            let asked = #"{"scopes": ["name", "email"], "firstName": "Ann", "lastName": "Onym"}"#
            let first = try await apple.signIn(AppleParty.native, asked)
            let user = try #require(first.json["user"] as? [String: Any])
            #expect((user["name"] as? [String: String]) == ["firstName": "Ann", "lastName": "Onym"] && user["email"] as? String == "ann@example.com")
            let second = try await apple.signIn(AppleParty.native, asked)
            #expect(second.json["user"] == nil && second.json["realUserStatus"] == nil && second["userID"] == first["userID"])
            let grouped = try await apple.signIn("/_device/accounts/ann/apps/example.acme.sports", asked)
            #expect(grouped.json["user"] == nil && grouped["userID"] == first["userID"])
            #expect(try await apple.signIn("/_device/accounts/ann/apps/example.acme.radio", asked).json["user"] != nil)
            let other = try await apple.signIn("/_device/accounts/ann/apps/example.bravo.tv", asked)
            #expect(other["userID"] != first["userID"])
        }
    }

    @Test func aPersonMayCancel() async throws {
        try await AppleParty.run { apple in
            let reply = try await apple.signIn(AppleParty.native, #"{"answer": "cancel"}"#)
            #expect(reply.json["code"] as? Int == 1001 && reply["identityToken"] == nil)
        }
    }

    @Test("apple #46: a code is good once and for 300 s")
    func codes() async throws {
        try await AppleParty.run { apple in
            let code = try #require(try await apple.signIn()["code"])
            #expect(try await apple.exchange(code).status == 200)
            Self.expect(try await apple.exchange(code), "invalid_grant")
            let early = try #require(try await apple.signIn()["code"])
            let late = try #require(try await apple.signIn()["code"])
            apple.clock.advance(by: .seconds(299))
            #expect(try await apple.exchange(early).status == 200)
            apple.clock.advance(by: .seconds(1))
            Self.expect(try await apple.exchange(late), "invalid_grant")
            Self.expect(try await apple.exchange("made-up"), "invalid_grant")
        }
    }

    @Test("apple #47: a code belongs to its client")
    func foreignCode() async throws {
        try await AppleParty.run { apple in
            let code = try #require(try await apple.signIn()["code"])
            Self.expect(try await apple.exchange(code, client: "example.acme.web"), "invalid_grant")
            #expect(try await apple.exchange(code).status == 200)
        }
    }

    @Test("apple #49: a client secret has to be right in every part")
    func clientSecrets() async throws {
        try await AppleParty.run { apple in
            let now = apple.clock.now().seconds
            let changes: [@Sendable (inout TeamToken) -> Void] = [
                { $0.claims["exp"] = now + 15_777_001 }, { $0.claims["exp"] = now }, { $0.claims["exp"] = nil }, { $0.claims["iat"] = nil },
                { $0.claims["iat"] = now + 120 }, { $0.claims["iss"] = "BRAVOTEAM1" }, { $0.claims["sub"] = "example.acme.sports" },
                { $0.claims["sub"] = "example.acme.TV" }, { $0.claims["aud"] = "https://apple.com" }, { $0.header["kid"] = "ACMEPURCH1" },
                { $0.header["alg"] = "HS256" }, { $0.key = "foreign" }, { $0.form = .der },
            ]
            for (index, change) in changes.enumerated() {
                var secret = TeamToken.secret(now: apple.clock.now())
                change(&secret)
                Self.expect(
                    try await apple.form("token", [Self.refresh, ("refresh_token", "x")], secret: try secret.text()), "invalid_client", "\(index)")
            }
            var longest = TeamToken.secret(now: apple.clock.now())
            longest.claims["exp"] = now + 15_777_000
            Self.expect(try await apple.form("token", [Self.refresh, ("refresh_token", "x")], secret: try longest.text()), "invalid_grant")
            Self.expect(try await apple.form("token", [Self.refresh], client: "example.unknown", secret: try longest.text()), "invalid_client")
            Self.expect(try await apple.form("token", [Self.refresh], secret: "x"), "invalid_client")
        }
    }

    @Test func requestsHaveToBeWellFormed() async throws {
        try await AppleParty.run { apple in
            let code = try #require(try await apple.signIn()["code"])
            let grant = [("grant_type", "authorization_code"), ("code", code)]
            Self.expect(try await apple.form("token", grant + [("code", code)]), "invalid_request", "repeated")
            Self.expect(try await apple.form("token", grant + [("audience", "x")]), "invalid_request", "unsupported")
            Self.expect(try await apple.form("token", [("grant_type", "authorization_code")]), "invalid_request", "missing")
            Self.expect(try await apple.form("token", [("code", code)]), "invalid_request", "no grant")
            Self.expect(try await apple.form("token", grant, headers: [.authorization: "Basic eDp5"]), "invalid_request", "mixed")
            Self.expect(try await apple.form("token", [("grant_type", "password")]), "unsupported_grant_type")
            Self.expect(try await apple.form("token", [("grant_type", "client_credentials"), ("scope", "all")]), "invalid_scope")
            let secret = try TeamToken.secret(now: apple.clock.now()).text()
            let body = AppleParty.encoded(grant + [("client_id", "example.acme.tv"), ("client_secret", secret)])
            Self.expect(try await apple.raw("token", body, type: "text/plain"), "invalid_request", "content type")
            Self.expect(
                try await apple.raw("token", body.replacingOccurrences(of: AuthnRequestText.encoded(code), with: "%zz")), "invalid_client",
                "not percent-encoded")
            Self.expect(try await apple.form("revoke", [("token", "x"), ("token_type_hint", "id_token")]), "invalid_request", "hint")
            #expect(try await apple.exchange(code).status == 200, "none of these spent the code")
        }
    }

    @Test func aRefreshTokenValidatesWithoutANewOne() async throws {
        try await AppleParty.run { apple in
            let token = try await apple.refreshToken()
            let reply = try await apple.form("token", [Self.refresh, ("refresh_token", token)])
            #expect(reply.status == 200 && reply["access_token"] != nil && reply["refresh_token"] == nil)
            Self.expect(try await apple.form("token", [Self.refresh, ("refresh_token", token)], client: "example.acme.sports"), "invalid_grant")
            Self.expect(try await apple.form("token", [Self.refresh, ("refresh_token", "made-up")]), "invalid_grant")
        }
    }

    @Test func validationsCanBeThrottled() async throws {
        try await AppleParty.run { apple in
            try await apple.control("behaviour", #"{"validationsPerDay": 1}"#)
            let fields = [Self.refresh, ("refresh_token", try await apple.refreshToken())]
            #expect(try await apple.form("token", fields).status == 200)
            let second = try await apple.form("token", fields)
            #expect(second.status == 429 && second.headers[.retryAfter] != nil)
            apple.clock.advance(by: .seconds(86_400))
            #expect(try await apple.form("token", fields).status == 200)
            let counted = try await apple.get("/_control/refresh-tokens").list
            #expect(counted.first?["validations"] as? Int == 3)
        }
    }

    @Test func revokingEndsTheAuthorization() async throws {
        try await AppleParty.run { apple in
            let token = try await apple.refreshToken()
            Self.expect(try await apple.form("revoke", [("token", token)], client: "example.acme.sports"), "invalid_grant")
            let first = try await apple.form("revoke", [("token", token), ("token_type_hint", "refresh_token")])
            #expect(first.status == 200 && first.text.isEmpty)
            #expect(try await apple.form("revoke", [("token", token)]).status == 200, "it was invalid already")
            #expect(try await apple.form("revoke", [("token", "made-up")]).status == 200)
            Self.expect(try await apple.form("token", [Self.refresh, ("refresh_token", token)]), "invalid_grant")
            #expect(try await apple.signIn(AppleParty.native, #"{"scopes": ["name"]}"#).json["user"] != nil, "the person is asked anew")
        }
    }

    @Test func aRevokedClientLeavesTheOthersOfTheGroup() async throws {
        try await AppleParty.run { apple in
            let token = try await apple.refreshToken()
            let other = try await apple.refreshToken("/_device/accounts/ann/apps/example.acme.sports", client: "example.acme.sports")
            #expect(try await apple.form("revoke", [("token", token)]).status == 200)
            #expect(try await apple.form("token", [Self.refresh, ("refresh_token", other)], client: "example.acme.sports").status == 200)
            #expect(try await apple.signIn(AppleParty.native, #"{"scopes": ["name"]}"#).json["user"] == nil)
        }
    }

    @Test func credentialStatesFollowTheConsent() async throws {
        try await AppleParty.run { apple in
            let user = try #require(try await apple.signIn()["userID"])
            let path = "\(AppleParty.native)/credential-state"
            #expect(try await apple.get("\(path)?user=\(user)")["state"] == "authorized")
            #expect(try await apple.get("\(path)?user=someone")["state"] == "notFound")
            let order = #"{"type": "consent-revoked", "account": "ann", "clientId": "example.acme.tv", "posts": 0}"#
            try await apple.control("notifications", order)
            #expect(try await apple.get("\(path)?user=\(user)")["state"] == "revoked")
            try await apple.control("users/ann", #"{"credentialState": "transferred"}"#, .put)
            #expect(try await apple.get("\(path)?user=\(user)")["state"] == "transferred")
        }
    }

    @Test func aTeamMovesAnAppToAnother() async throws {
        try await AppleParty.run { apple in
            let old = try #require(try await apple.signIn()["userID"])
            let sending = try #require(try await Self.migrationToken(apple, "example.acme.tv"))
            let sent = try await Self.info(apple, [("sub", old), ("target", "BRAVOTEAM1")], "example.acme.tv", sending)
            let transfer = try #require(sent["transfer_sub"], "\(sent.text)")
            let receiving = try await Self.migrationToken(apple, "example.bravo.tv")
            let receive = [("transfer_sub", transfer)]
            Self.expect(try await Self.info(apple, receive, "example.bravo.tv", receiving), "invalid_request", "not accepted yet")
            try await apple.control("transfers", #"{"group": "example.acme.tv", "team": "BRAVOTEAM1"}"#)
            let received = try await Self.info(apple, receive, "example.bravo.tv", receiving)
            #expect(received["email"] == "ann@example.com")
            let now = try AppleParty.claims(try await apple.signIn()["identityToken"])
            #expect(now["sub"] as? String == received["sub"] && received["sub"] != old && now["transfer_sub"] as? String == transfer)
            apple.clock.advance(by: .seconds(60 * 86_400))
            let late = try await Self.migrationToken(apple, "example.bravo.tv")
            Self.expect(try await Self.info(apple, receive, "example.bravo.tv", late), "invalid_request", "60 days are over")
            #expect(try AppleParty.claims(try await apple.signIn()["identityToken"])["transfer_sub"] == nil)
        }
    }

    @Test func migrationNeedsTheTeamsOwnBearer() async throws {
        try await AppleParty.run { apple in
            let user = try #require(try await apple.signIn()["userID"])
            let fields = [("sub", user), ("target", "BRAVOTEAM1")]
            Self.expect(try await apple.form("usermigrationinfo", fields), "invalid_request")
            let bearer = try await Self.migrationToken(apple, "example.bravo.tv")
            Self.expect(try await Self.info(apple, fields, "example.acme.tv", bearer), "invalid_request")
            let own = try await Self.migrationToken(apple, "example.acme.tv")
            Self.expect(try await Self.info(apple, fields + [("transfer_sub", "x")], "example.acme.tv", own), "invalid_request")
            apple.clock.advance(by: .seconds(3600))
            Self.expect(try await Self.info(apple, fields, "example.acme.tv", own), "invalid_request")
        }
    }

    private static func migrationToken(_ apple: AppleParty, _ client: String) async throws -> String? {
        try await apple.form("token", [("grant_type", "client_credentials"), ("scope", "user.migration")], client: client)["access_token"]
    }

    private static func info(
        _ apple: AppleParty, _ fields: [(String, String)], _ client: String, _ bearer: String?
    ) async throws -> AppleParty.Reply {
        try await apple.form("usermigrationinfo", fields, client: client, headers: [.authorization: "Bearer \(bearer ?? "")"])
    }
}
