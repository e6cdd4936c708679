internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The web service by which an MVPD proxy keeps its list (dashboard §4).
@Suite struct ProxiedMvpdControlTests {
    let gateway = TestGateway(mvpdProxies: ["127.0.0.0/8", "::1"])
    private static let path = "/control/v3/mvpd-proxies/BigProxy/mvpds"
    private static let form = "proxied-mvpds=%3CproxiedMvpds%2F%3E"

    init() {
        gateway.administration.getAdministrator.answer { request, _ in
            guard request.token == "good" else { throw Fault(.accessDenied, "The administrator's token is not known.") }
            return Administrator(name: "big", role: .proxy, proxyMvpdID: "BigProxy")
        }
        gateway.administration.listProxiedMvpds.answer(
            with: ProxiedMvpds(mvpds: [
                ProxiedMvpd(id: "Town", displayName: "Town & <Country>", providerID: "town\"1"),
                ProxiedMvpd(
                    id: "Hill", displayName: "Hill", logoURL: "https://hill.example/l.png", iframeWidth: 340, iframeHeight: 400,
                    requestorIDs: ["ACME1"]),
            ]))
        gateway.administration.replaceProxiedMvpds.answer(with: ProxiedMvpdsOutcome(outcome: .version(CatalogueVersion(version: 7))))
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String = path, token: String? = "good", body: String? = nil, to other: TestGateway? = nil
    ) async throws -> Reply {
        var headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        if let token { headers[.authorization] = "Bearer \(token)" }
        return try await (other ?? gateway).send(method, path, headers, body: body, over: .live)
    }

    @Test("dashboard §4: GET is the list as XML")
    func lists() async throws {
        let reply = try await send(.get)
        #expect(reply.status == 200 && reply.headers[.contentType] == "application/xml; charset=utf-8")
        let town =
            #"<proxiedMvpd><id ProviderID="town&quot;1">Town</id><displayName>Town &amp; &lt;Country&gt;</displayName><logoURL></logoURL></proxiedMvpd>"#
        let hill =
            "<proxiedMvpd><id>Hill</id><displayName>Hill</displayName><logoURL>https://hill.example/l.png</logoURL>"
            + "<iframeSize><iframeHeight>400</iframeHeight><iframeWidth>340</iframeWidth></iframeSize>"
            + "<requestorIds><requestorId>ACME1</requestorId></requestorIds></proxiedMvpd>"
        let root = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><proxiedMvpds xmlns="http://tve.adobe.com/data/proxiedmvpd">"#
        #expect(reply.text == root + town + hill + "</proxiedMvpds>")
        #expect(gateway.administration.listProxiedMvpds.requests == [ListProxiedMvpdsRequest(token: "good", proxyMvpdID: "BigProxy")])
    }

    @Test("dashboard §4: POST takes the form field as the new list, and is 201")
    func replaces() async throws {
        let reply = try await send(.post, body: Self.form)
        #expect(reply.status == 201 && reply.text.isEmpty)
        let request = ReplaceProxiedMvpdsRequest(token: "good", proxyMvpdID: "BigProxy", document: "<proxiedMvpds/>")
        #expect(gateway.administration.replaceProxiedMvpds.requests == [request])
    }

    @Test("a long list is read once who sends it is known")
    func long() async throws {
        let body = Self.form + String(repeating: "+", count: 100_000)
        #expect(try await send(.post, body: body).status == 201)
        #expect(try await send(.post, token: "bad", body: body).status == 401)
        #expect(gateway.authentication.verifyAccessToken.requests.isEmpty)
    }

    @Test("dashboard §4: 400, 401, 403, 405, 500")
    func refuses() async throws {
        #expect(try await send(.get, token: nil).status == 401)
        #expect(try await send(.post, token: "bad", body: Self.form).status == 401)
        #expect(try await send(.post, body: "other=1").status == 400)
        #expect(try await send(.post, body: Self.form + "&" + Self.form).status == 400)
        #expect(try await send(.put, body: Self.form).status == 405)
        #expect(try await send(.delete).status == 405)
        let problem = FieldProblem(field: "proxiedMvpd[1].id", message: "is 'A', which is there twice")
        gateway.administration.replaceProxiedMvpds.answer(
            with: ProxiedMvpdsOutcome(outcome: .refusal(Refusal(reason: .invalid, message: "One thing is wrong.", problems: [problem]))))
        let refused = try await send(.post, body: Self.form)
        #expect(refused.status == 400 && refused.text.contains("proxiedMvpd[1].id is &apos;A&apos;, which is there twice"), "\(refused.text)")
        for code in [Fault.Code.insufficientRole, .notFound] {
            gateway.administration.listProxiedMvpds.answer { _, _ in throw Fault(code, "no") }
            #expect(try await send(.get).status == 403)
        }
        gateway.administration.listProxiedMvpds.answer { _, _ in throw Fault(.internal, "broken") }
        #expect(try await send(.get).status == 500)
    }

    @Test(
        "who calls from another address is refused before anything is asked; without a setting that is everybody", arguments: [["192.0.2.0/24"], []])
    func addresses(allowed: [String]) async throws {
        let other = TestGateway(mvpdProxies: allowed)
        #expect(try await send(.get, to: other).status == 401)
        #expect(try await send(.post, body: Self.form, to: other).status == 401)
        #expect(other.administration.getAdministrator.requests.isEmpty)
    }
}
