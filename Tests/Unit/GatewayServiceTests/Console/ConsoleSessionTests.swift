internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsoleSessionTests {
    let console = ConsoleFixture()

    @Test("whoever is not signed in gets the page of the sign-in, and comes back from there")
    func signsIn() async throws {
        let asked = try await console.gateway.send(.get, "/console/integrations?q=a%26b", [:])
        #expect(asked.status == 303 && asked.location == "/console/sign-in?to=%2Fconsole%2Fintegrations%3Fq%3Da%2526b")
        let page = try await console.gateway.send(.get, asked.location, [:])
        #expect(page.status == 200 && page.text.contains(#"name="to" value="/console/integrations?q=a%26b""#))
        #expect(page.text.contains("plain HTTP to this machine"))
        let reply = try await console.gateway.post("/console/sign-in", form: "bearer=+good-token%0A&to=%2Fconsole%2Fhistory", [:])
        #expect(reply.status == 303 && reply.location == "/console/history")
        #expect(reply.headers[.setCookie] == "boxoffice-console=\(ConsoleFixture.secret); Path=/; HttpOnly; SameSite=Strict")
        #expect(console.gateway.administration.openSession.requests.map(\.token) == ["good-token"])
        #expect(!reply.text.contains("good-token"))
    }

    @Test("the name of an identity provider may be a plural: no sentence has it as its subject")
    func takesAnyName() throws {
        let folder = TestGateway.pages + "/console/"
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".mustache") {
            let text = try String(contentsOfFile: folder + file, encoding: .utf8)
            #expect(text.firstMatch(of: #/\{\{providerName\}\} (does|do|is|are|has|have|was|were|\w+s) /#) == nil, "\(file)")
        }
    }

    @Test("a token that is nobody's, or in the address, opens nothing")
    func refuses() async throws {
        let reply = try await console.gateway.post("/console/sign-in", form: "bearer=bad", [:])
        #expect(reply.status == 403 && reply.text.contains("nobody") && reply.headers[.setCookie] == nil)
        let address = try await console.gateway.post("/console/sign-in?bearer=good-token", form: "to=%2Fconsole", [:])
        #expect(address.status == 403)
        #expect(console.gateway.administration.openSession.requests.map(\.token) == ["bad", ""])
    }

    @Test(
        "the way back leads to the console alone",
        arguments: [
            "https://evil.example/", "//evil.example/console", "/console/../x\u{20}", "/consoleevil", "\\\\evil", "/activate", "",
        ])
    func returnsHome(target: String) async throws {
        #expect(ConsoleAddress.own(target) == "/console")
    }

    @Test("a session that is over in the middle of a form loses nothing that was typed")
    func carriesForms() async throws {
        let old: HTTPFields = [.cookie: "boxoffice-console=over", .secFetchSite: "same-origin"]
        let reply = try await console.post("/integrations/ACME1/NorthCable/edit", "authnTtl.d=30&note=a%22%3Cb%3E%0Ac&etag=e1", old)
        #expect(reply.status == 403 && reply.text.contains("what you typed is kept"))
        #expect(reply.text.contains(#"name="to" value="/console/integrations/ACME1/NorthCable/edit""#))
        #expect(reply.text.contains("name=\"carried.note\" value=\"a&quot;&lt;b&gt;\nc\""))
        #expect(!reply.text.contains("carried.token"))
        #expect(reply.headers[.setCookie]?.contains("Max-Age=0") == true)
        let form = "bearer=good-token&to=%2Fconsole%2Fintegrations%2FACME1%2FNorthCable%2Fedit&carried.note=a%22%3Cb%3E%0Ac&carried.etag=e1"
        let again = try await console.gateway.post("/console/sign-in", form: form, [:])
        #expect(again.status == 200 && again.text.contains("Nothing is lost"))
        #expect(again.text.contains(#"action="/console/integrations/ACME1/NorthCable/edit""#))
        #expect(again.text.contains("name=\"note\" value=\"a&quot;&lt;b&gt;\nc\"") && again.text.contains(#"name="etag" value="e1""#))
        #expect(again.text.contains(#"name="token" value="\#(console.token)""#))
        #expect(console.gateway.administration.replaceEntity.requests.isEmpty)
    }

    @Test("a form of an older page, and one that meets a service which is away, can be sent as they are")
    func sendsAgain() async throws {
        let stale = try await console.gateway.post("/console/draft/push", form: "description=d1&token=old", ConsoleFixture.browser)
        #expect(stale.status == 403 && stale.text.contains(#"name="description" value="d1""#) && stale.text.contains(console.token))
        #expect(console.gateway.administration.pushDraft.requests.isEmpty)
        console.gateway.administration.pushDraft.fail(with: Fault(.unavailable, "away"))
        let away = try await console.post("/draft/push", "description=d2")
        #expect(away.status == 503 && away.headers[.retryAfter] == "1" && away.text.contains(#"name="description" value="d2""#))
    }

    @Test("pages of other sites send nothing, other names lead to nothing, and a link from elsewhere works")
    func keepsOthersOut() async throws {
        for foreign in [[.secFetchSite: "cross-site"], [.origin: "https://evil.example"], [.origin: "null"]] as [HTTPFields] {
            var headers = ConsoleFixture.browser
            headers[.secFetchSite] = nil
            for field in foreign { headers[field.name] = field.value }
            let reply = try await console.post("/draft/dismiss", "", headers)
            #expect(reply.status == 403 && reply.isHTML && reply.text.contains("another site"))
        }
        #expect(console.gateway.administration.discardDraft.requests.isEmpty)
        let link = try await console.gateway.send(.get, "/console/draft", [.secFetchSite: "cross-site"])
        #expect(link.status == 200 && link.text.contains(#"content="0; url=/console/draft""#))
    }

    @Test("pages carry a policy without scripts, and are kept by nobody")
    func hasPolicy() async throws {
        let page = try await console.get("")
        #expect(
            page.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'") == true)
        #expect(page.headers[.cacheControl] == "no-store" && !page.text.contains("<script"))
        let style = try await console.gateway.send(.get, "/console/assets/console.css", [:])
        #expect(style.status == 200 && style.headers[.contentType] == "text/css; charset=utf-8")
    }

    @Test("sessions are listed and ended, and so is one's own")
    func endsSessions() async throws {
        console.gateway.administration.listSessions.answer(
            with: AdministratorSessions(sessions: [
                AdministratorSession(id: "s1", name: "ada", client: "192.0.2.1", openedAtMilliseconds: 1_930_384_800_000, isOwn: true),
                AdministratorSession(id: "s2", name: "ed", openedAtMilliseconds: 1_930_384_800_000),
            ]))
        console.gateway.administration.endSession.answer(with: EndSessionResponse())
        let page = try await console.get("/sessions")
        #expect(page.text.contains("this one") && page.text.contains("2031-03-04 10:00 UTC") && page.text.contains("192.0.2.1"))
        #expect(try await console.post("/sessions/end", "id=s2").location == "/console/sessions?ended=1")
        let out = try await console.post("/sign-out", "")
        #expect(out.location == "/console/sign-in?ended=1" && out.headers[.setCookie]?.contains("Max-Age=0") == true)
        #expect(console.gateway.administration.endSession.requests.map(\.id) == ["s2", ""])
    }

    @Test(
        "what is not there, not allowed, or away is a page that says so",
        arguments: [
            (Fault(.notFound, "x"), 404, "nothing at this address"), (Fault(.insufficientRole, "x"), 403, "does not allow"),
            (Fault(.unavailable, "x"), 503, "busy or being restarted"), (Fault(.unimplemented, "x"), 501, "does not offer"),
            (Fault(.internal, "secret detail"), 500, "unexpected fault"),
        ])
    func tellsFaults(fault: Fault, status: Int, words: String) async throws {
        console.gateway.administration.getEntity.fail(with: fault)
        let reply = try await console.get("/mvpds/X")
        #expect(reply.status == status && reply.isHTML && reply.text.contains(words) && !reply.text.contains("secret detail"))
        #expect(try await console.get("/nothing-here").status == 404)
    }
}
