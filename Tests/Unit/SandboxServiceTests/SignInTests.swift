import Clocks
import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

@Suite struct SignInTests {
    let fixture = Fixture()

    private var request: AuthnRequestText { AuthnRequestText(issuedAt: fixture.clock.now()) }

    @Test func showsALoginPageThatNamesTheRequestor() async throws {
        let page = try await fixture.run { [request] client in
            var browser = Browser(client)
            return try await browser.redirect(request)
        }
        #expect(page.status == .ok)
        #expect(page.text(id: "requestor") == "ACME1")
        #expect(page.html.contains("Sandbox"))
        #expect(page.html.contains(#"<label for="username">"#))
        #expect(page.html.contains(#"<label for="password">"#))
        #expect(page.field("state") != nil)
    }

    @Test("clients #34: a program that submits the form with nothing in it gets the form again")
    func emptyForm() async throws {
        let page = try await fixture.run { [request] client in
            var browser = Browser(client)
            let page = try await browser.redirect(request)
            return try await browser.login(page, name: "", password: "", action: "")
        }
        #expect(page.status == .ok && page.field("state") != nil)
    }

    @Test func showsScopingOfARequest() async throws {
        var scoped = request
        scoped.issuer = Fixture.entityID
        scoped.scoping = """
            <samlp:Scoping><samlp:IDPList><samlp:IDPEntry ProviderID="tinycable" Name="Tiny &lt;Cable&gt;"/></samlp:IDPList>\
            <samlp:RequesterID>NEWSBRAND</samlp:RequesterID></samlp:Scoping>
            """
        let page = try await fixture.run { [scoped] client in
            var browser = Browser(client)
            return try await browser.redirect(scoped)
        }
        #expect(page.text(id: "requestor") == "NEWSBRAND")
        #expect(page.text(id: "providers") == "Tiny <Cable>")
    }

    @Test func answersARedirectedRequestAfterLogin() async throws {
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            let page = try await browser.login(try await browser.redirect(request), name: "ada", password: "ada")
            #expect(page.status == .ok)
            #expect(page.field("RelayState") == "handle+1/=&")
            #expect(page.html.contains(#"action="\#(Fixture.acsURL)""#))
            #expect(page.html.contains(#"id="continue""#))
            let answer = try page.decoded()
            #expect(answer.statuses == ["urn:oasis:names:tc:SAML:2.0:status:Success"])
            #expect(answer.root.attributes["InResponseTo"] == "_request-1")
            #expect(answer.root.attributes["Destination"] == Fixture.acsURL)
        }
    }

    @Test func answersAPostedRequestAfterLogin() async throws {
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            let login = try await browser.post("/saml/NorthCable/sso", try request.form())
            #expect(login.status == .ok)
            let page = try await browser.login(login, name: "ben", password: "ben")
            #expect(try page.decoded().attribute("channelID") == ["ACME1-NEWS"])
        }
    }

    @Test func leavesRelayStateOutWhenThereWasNone() async throws {
        var request = request
        request.relayState = nil
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            let page = try await browser.login(try await browser.redirect(request), name: "ada", password: "ada")
            #expect(page.answer != nil)
            #expect(page.field("RelayState") == nil)
        }
    }

    @Test(arguments: [("ada", "wrong"), ("nobody", "nobody"), ("eve", "eve"), ("", "")])
    func asksAgainAfterAWrongLogin(name: String, password: String) async throws {
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            let page = try await browser.login(try await browser.redirect(request), name: name, password: password)
            #expect(page.status == .unprocessableContent)
            #expect(page.html.contains(#"role="alert""#))
            #expect(page.answer == nil)
            #expect(browser.cookie == nil)
            #expect(try await browser.login(page, name: "ada", password: "ada").answer != nil)
        }
    }

    @Test func answersAuthnFailedAfterCancel() async throws {
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            let page = try await browser.login(try await browser.redirect(request), name: "", password: "", action: "cancel")
            let answer = try page.decoded()
            #expect(answer.statuses == ["urn:oasis:names:tc:SAML:2.0:status:Responder", "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed"])
            #expect(answer.assertion == nil)
        }
    }

    @Test func remembersThePersonByCookie() async throws {
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            _ = try await browser.login(try await browser.redirect(request), name: "ada", password: "ada")
            fixture.clock.advance(by: .seconds(60))
            let second = try await browser.redirect(request)
            let answer = try second.decoded()
            #expect(answer.authnInstant == Instant.text(fixture.clock.now() - .seconds(60)))
        }
    }

    @Test func forgetsThePersonWhenTheSessionIsOver() async throws {
        try await fixture.run { client async throws -> Void in
            var browser = Browser(client)
            _ = try await browser.login(
                try await browser.redirect(AuthnRequestText(issuedAt: fixture.clock.now())), name: "ada", password: "ada"
            )
            fixture.clock.advance(by: IdentityProvider.sessionLifetime)
            let page = try await browser.redirect(AuthnRequestText(issuedAt: fixture.clock.now()))
            #expect(page.answer == nil)
            #expect(page.field("state") != nil)
        }
    }

    @Test func asksForALoginWhenTheRequestForcesIt() async throws {
        var forced = request
        forced.attributes = #"ForceAuthn="true""#
        try await fixture.run { [request, forced] client in
            var browser = Browser(client)
            _ = try await browser.login(try await browser.redirect(request), name: "ada", password: "ada")
            fixture.clock.advance(by: .seconds(5))
            let page = try await browser.redirect(forced)
            #expect(page.answer == nil)
            let answer = try await browser.login(page, name: "ada", password: "ada").decoded()
            #expect(answer.authnInstant == Instant.text(fixture.clock.now()))
        }
    }

    @Test func answersAPassiveRequestWithoutPage() async throws {
        var passive = request
        passive.attributes = #"IsPassive="true""#
        try await fixture.run { [request, passive] client in
            var browser = Browser(client)
            let refused = try await browser.redirect(passive).decoded()
            #expect(refused.statuses.last == "urn:oasis:names:tc:SAML:2.0:status:NoPassive")
            _ = try await browser.login(try await browser.redirect(request), name: "ada", password: "ada")
            let answer = try await browser.redirect(passive).decoded()
            #expect(answer.statuses == ["urn:oasis:names:tc:SAML:2.0:status:Success"])
        }
    }

    @Test func doesNotTakeACookieOfAnotherProvider() async throws {
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            _ = try await browser.login(try await browser.redirect(request), name: "ada", password: "ada")
            let value = try #require(browser.cookie?.split(separator: "=", maxSplits: 1).last)
            browser.cookie = "sandbox-session-LakeTel=\(value)"
            var other = request
            other.mvpd = "LakeTel"
            #expect(try await browser.redirect(other).answer == nil)
        }
    }

    @Test func refusesALoginPageThatIsTooOldOrForged() async throws {
        try await fixture.run { [request] client async throws -> Void in
            var browser = Browser(client)
            let page = try await browser.redirect(request)
            let forged = Browser.Page(
                status: .ok, html: page.html.replacingOccurrences(of: #"name="state" value=""#, with: #"name="state" value="A"#))
            #expect(try await browser.login(forged, name: "ada", password: "ada").text(id: "reason") == "state.unknown")
            fixture.clock.advance(by: IdentityProvider.loginLifetime)
            let late = try await browser.login(page, name: "ada", password: "ada")
            #expect(late.status == .badRequest)
            #expect(late.text(id: "reason") == "state.unknown")
        }
    }

    @Test func keepsALoginAcrossARestart() async throws {
        let page = try await fixture.run { [request] client in
            var browser = Browser(client)
            return try await browser.redirect(request)
        }
        try await fixture.run { client async throws -> Void in
            var browser = Browser(client)
            #expect(try await browser.login(page, name: "ada", password: "ada").answer != nil)
        }
    }
}
