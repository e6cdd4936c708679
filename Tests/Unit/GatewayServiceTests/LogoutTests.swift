internal import Contracts
internal import Doubles
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The browser's way through the logouts of the MVPDs (mvpd §2.7).
@Suite struct LogoutTests {
    private let gateway = TestGateway()
    private let address = "/sp/saml/LogoutServiceHTTPRedirectResponse"

    @Test("mvpd #82: a redirected message is passed on exactly as it was received")
    func rawQuery() async throws {
        gateway.authentication.receiveSamlLogout.answer(with: LogoutStep(result: .goesOn, url: "https://acme.example/bye"))
        let query = "SAMLResponse=a%2b%2Fb%3d&RelayState=x%20y&SigAlg=z&Signature=%41"
        let reply = try await gateway.get("\(address)?\(query)", [:])
        #expect(reply.status == 302 && reply.headers[.location] == "https://acme.example/bye")
        #expect(gateway.authentication.receiveSamlLogout.requests == [SamlLogoutMessage(query: query)])
    }

    @Test func aFormIsPassedOnDecoded() async throws {
        gateway.authentication.receiveSamlLogout.answer(
            with: LogoutStep(
                result: .goesOn, url: "https://idp.example/slo", fields: [FormField(name: "SAMLResponse", value: "PHg+")]))
        let reply = try await gateway.post(address, form: "SAMLRequest=PHg%2B&RelayState=1", [:])
        #expect(reply.status == 200 && reply.text.contains("action=\"https://idp.example/slo\"") && reply.text.contains("name=\"SAMLResponse\""))
        #expect(gateway.authentication.receiveSamlLogout.requests == [SamlLogoutMessage(samlRequest: "PHg+", relayState: "1")])
    }

    @Test(
        "mvpd #82: a form with anything that makes it ambiguous is refused without asking",
        arguments: [
            "SAMLResponse=a&SAMLResponse=a", "SAMLResponse=a&SAMLRequest=b", "SAMLResponse=a&RelayState=1&RelayState=1", "SAMLResponse=a&SigAlg=b",
            "SAMLResponse=a&Signature=b", "SAMLResponse=%FF",
        ])
    func ambiguousForms(form: String) async throws {
        let reply = try await gateway.post(address, form: form, [:])
        #expect(reply.status == 400 && reply.isHTML)
        #expect(try await gateway.post("\(address)?RelayState=1", form: "SAMLResponse=a", [:]).status == 400)
        #expect(gateway.authentication.receiveSamlLogout.requests.isEmpty)
    }

    @Test func withoutAMessageThereIsNothingToDo() async throws {
        #expect(try await gateway.get(address, [:]).status == 503)
        #expect(try await gateway.post(address, form: "RelayState=1&SAMLResponse=", [:]).status == 503)
        #expect(try await gateway.send(.put, address, [:]).status == 405)
    }

    @Test func whatIsOverOrRefusedIsAPage() async throws {
        gateway.authentication.visitLogout.answer(with: LogoutStep(result: .done))
        let done = try await gateway.get("/adobe-services/logout?handle=h", [:])
        #expect(done.status == 200 && done.isHTML && done.text.contains("You are signed out"))
        gateway.authentication.visitLogout.answer(with: LogoutStep(result: .rejected, traceID: "feedfacefeedfacefeedfacefeedface"))
        let refused = try await gateway.get("/adobe-services/logout?handle=h", [:])
        #expect(refused.status == 400 && refused.text.contains("feedfacefeedfacefeedfacefeedface"))
        #expect(try await gateway.get("/adobe-services/logout", [:]).status == 400)
    }

    @Test("RP-Initiated Logout 1.0 §3: state leads on; without it, twice, or too late, the person is signed out all the same")
    func returns() async throws {
        let place = "/adobe-services/logout/oauth"
        gateway.authentication.visitLogout.answer(with: LogoutStep(result: .goesOn, url: "https://acme.example/bye"))
        let reply = try await gateway.get("\(place)?state=s%2B1", [:])
        #expect(reply.status == 302 && reply.headers[.location] == "https://acme.example/bye")
        #expect(gateway.authentication.visitLogout.requests == [VisitLogoutRequest(handle: "s+1")])
        for query in ["", "?state=", "?state=a&state=b"] {
            let page = try await gateway.get(place + query, [:])
            #expect(page.status == 200 && page.text.contains("You are signed out"), "\(query)")
        }
        #expect(gateway.authentication.visitLogout.requests.count == 1)
        gateway.authentication.visitLogout.answer(with: LogoutStep(result: .rejected, traceID: "feedfacefeedfacefeedfacefeedface"))
        let late = try await gateway.get("\(place)?state=old", [:])
        #expect(late.status == 200 && late.text.contains("You are signed out"))
    }

    @Test("mvpd #81: a web view's logout goes to the MVPD first")
    func visitsFirst() async throws {
        gateway.authentication.logout.answer(with: LogoutResponse(ended: 1, visitURL: "http://127.0.0.1:8080/adobe-services/logout?handle=h"))
        let reply = try await gateway.get("/api/v1/logout?\(TestGateway.deviceQuery)&redirect_url=https://acme.example/out")
        #expect(reply.status == 302 && reply.headers[.location] == "http://127.0.0.1:8080/adobe-services/logout?handle=h")
        #expect(gateway.authentication.logout.requests.last?.redirectURL == "https://acme.example/out")
        #expect(gateway.authentication.logout.requests.last?.hasBrowser == true)
        _ = try await gateway.send(.delete, "/api/v1/logout?\(TestGateway.deviceQuery)")
        #expect(gateway.authentication.logout.requests.last?.hasBrowser == false)
    }
}
