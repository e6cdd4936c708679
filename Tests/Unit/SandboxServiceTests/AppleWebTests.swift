import Foundation
import Hummingbird
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The web flow of Sign in with Apple (apple §2.1).
@Suite struct AppleWebTests {
    private static func address(_ changes: [String: String?] = [:]) -> String {
        var parameters: [String: String?] = [
            "client_id": "example.acme.web", "redirect_uri": AppleParty.callback, "response_type": "code id_token", "response_mode": "form_post",
            "scope": "name email", "state": "s & \"1\"", "nonce": "n-1",
        ]
        parameters.merge(changes) { $1 }
        return "/appleid/auth/authorize?" + AppleParty.encoded(parameters.compactMap { name, value in value.map { (name, $0) } })
    }

    private static func consent(_ apple: AppleParty, _ address: String, _ fields: [(String, String)]) async throws -> AppleParty.Reply {
        let page = try await apple.get(address)
        try #require(page.status == 200, "\(page.text)")
        let transaction = try #require(Browser.Page(status: .ok, html: page.text).field("transaction"))
        return try await apple.raw("authorize/consent", AppleParty.encoded([("transaction", transaction)] + fields))
    }

    @Test func theAnswerIsAFormThatSubmitsItself() async throws {
        try await AppleParty.run { apple in
            let fields = [("account", "ann"), ("firstName", "<b>Ann</b>"), ("lastName", ""), ("mail", "hide"), ("action", "continue")]
            let answer = try await Self.consent(apple, Self.address(), fields)
            #expect(answer.text.contains(#"action="http://127.0.0.1:8080/apple/v1/callback""#) || answer.text.contains("apple&#x2F;v1&#x2F;callback"))
            #expect(answer.text.contains("/assets/submit.js") && answer.text.contains("A stand-in for Apple."))
            #expect(try await apple.get("/assets/submit.js").text.contains("submit()"))
            let page = Browser.Page(status: .ok, html: answer.text)
            #expect(page.field("state") == "s & \"1\"")
            let user = try #require(page.field("user"))
            #expect(user.contains(#""firstName":"<b>Ann</b>""#) && user.contains("@privaterelay.appleid.com") && !user.contains("lastName"))
            let claims = try AppleParty.claims(page.field("id_token"))
            #expect(claims["aud"] as? String == "example.acme.web" && claims["nonce"] as? String == "n-1" && claims["real_user_status"] == nil)
            #expect(claims["is_private_email"] as? Bool == true)
            let code = try #require(page.field("code"))
            #expect(try await apple.exchange(code, client: "example.acme.web")["error"] == "invalid_grant", "the redirect_uri is missing")
            #expect(try await apple.exchange(code, client: "example.acme.web", redirect: AppleParty.callback).status == 200)
        }
    }

    @Test func theNameComesOnceForTheGroup() async throws {
        try await AppleParty.run { apple in
            _ = try await apple.signIn()
            let answer = try await Self.consent(apple, Self.address(), [("account", "ann"), ("action", "continue")])
            #expect(Browser.Page(status: .ok, html: answer.text).field("user") == nil)
        }
    }

    @Test func aPersonMayCancel() async throws {
        try await AppleParty.run { apple in
            let answer = try await Self.consent(apple, Self.address(), [("account", ""), ("action", "cancel")])
            let page = Browser.Page(status: .ok, html: answer.text)
            #expect(page.field("error") == "user_cancelled_authorize" && page.field("state") != nil && page.field("code") == nil)
        }
    }

    @Test(arguments: [("query", "code", "?"), ("fragment", "code id_token", "#")])
    func otherModesRedirect(_ mode: String, _ type: String, _ mark: String) async throws {
        try await AppleParty.run { apple in
            let address = Self.address(["response_mode": mode, "response_type": type, "scope": nil, "state": "s"])
            let answer = try await Self.consent(apple, address, [("account", "ann"), ("action", "continue")])
            let location = try #require(answer.headers[.location])
            #expect(answer.status == 302 && location.hasPrefix(AppleParty.callback + mark + "state=s&code="))
            #expect(location.contains("id_token=") == (mode == "fragment"))
        }
    }

    @Test func aWrongRequestIsRefusedBeforeAnyPage() async throws {
        try await AppleParty.run { apple in
            let cases: [([String: String?], String)] = [
                (["client_id": "example.acme.tv"], "invalid_client"), (["client_id": "x"], "invalid_client"), (["client_id": nil], "invalid_request"),
                (["redirect_uri": "http://127.0.0.1:8080/apple/v1/callback/"], "unauthorized_client"), (["redirect_uri": nil], "unauthorized_client"),
                (["scope": "name phone"], "invalid_scope"), (["response_type": "token"], "invalid_request"),
                (["response_mode": "fragment"], "invalid_request"), (["response_mode": "query", "scope": nil], "invalid_request"),
                (["prompt": "none"], "invalid_request"),
            ]
            for (changes, error) in cases {
                let reply = try await apple.get(Self.address(changes))
                #expect(reply.status == 400 && reply["error"] == error, "\(changes)")
            }
        }
    }

    @Test func aPageIsGoodOnceAndForTenMinutes() async throws {
        try await AppleParty.run { apple in
            let page = Browser.Page(status: .ok, html: try await apple.get(Self.address()).text)
            let fields = AppleParty.encoded([("transaction", page.field("transaction") ?? ""), ("account", "ann"), ("action", "continue")])
            #expect(try await apple.raw("authorize/consent", fields).status == 200)
            #expect(try await apple.raw("authorize/consent", fields)["error"] == "invalid_request")
            let late = Browser.Page(status: .ok, html: try await apple.get(Self.address()).text)
            apple.clock.advance(by: .seconds(600))
            let lateFields = AppleParty.encoded([("transaction", late.field("transaction") ?? ""), ("account", "ann")])
            #expect(try await apple.raw("authorize/consent", lateFields)["error"] == "invalid_request")
        }
    }
}
