internal import Contracts
internal import Faults
internal import Testing

@Suite struct SessionTests {
    let gateway = TestGateway()

    @Test func checkauthnIsEmpty() async throws {
        let reply = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)")
        #expect(reply.status == 200 && reply.text.isEmpty)
    }

    @Test("rest-v1 #48: tokens/authn has its expiry as a string of milliseconds")
    func authnToken() async throws {
        let reply = try await gateway.get("/api/v1/tokens/authn?\(TestGateway.deviceQuery)")
        #expect(reply.json["expires"] as? String == "1930384800123")
        #expect(Set(reply.json.keys) == ["requestor", "mvpd", "userId", "expires"])
    }

    @Test("rest-v1 #105: appId travels with the call")
    func application() async throws {
        _ = try await gateway.get("/api/v1/checkauthn?\(TestGateway.deviceQuery)&appId=a1&deviceUser=u&deviceType=t")
        let call = try #require(gateway.authentication.getSession.requests.first?.call)
        #expect(call.appID == "a1" && call.deviceUser == "u" && call.deviceType == "t")
    }

    @Test("rest-v1 #85 #106: logout is 204, and without requestor it asks for every one of the application")
    func logout() async throws {
        let one = try await gateway.send(.delete, "/api/v1/logout?\(TestGateway.deviceQuery)")
        let all = try await gateway.send(.delete, "/api/v1/logout?deviceId=dev-7f3a")
        #expect(one.status == 204 && one.text.isEmpty && all.status == 204)
        #expect(gateway.authentication.logout.requests.map { $0.call?.requestor } == ["ACME1", ""])
        #expect(try await gateway.send(.delete, "/api/v1/logout?deviceId=d&requestor=NOPE").status == 400)
    }

    @Test("rest-v1 #108: GET logout with a foreign redirect_url is 400 and clears nothing")
    func foreignRedirect() async throws {
        for url in ["https://evil.example/", "javascript:alert(1)", "https://acme.example%40evil.example/", "https://acme.example%5C.evil.example"] {
            let named = try await gateway.get("/api/v1/logout?\(TestGateway.deviceQuery)&redirect_url=\(url)")
            let unnamed = try await gateway.get("/api/v1/logout?deviceId=dev-7f3a&redirect_url=\(url)")
            #expect(named.status == 400 && unnamed.status == 400)
            for reply in [named, unnamed] { #expect(reply.text.contains("at no registered domain"), "\(reply.text)") }
        }
        #expect(gateway.authentication.logout.requests.isEmpty)
    }

    @Test func getLogoutSendsTheBrowserOn() async throws {
        let query = "\(TestGateway.deviceQuery)&access_token=good&device_info=\(TestGateway.deviceInformation)"
        let wanted = try await gateway.get("/api/v1/logout?\(query)&redirect_url=https://www.acme.example/out", [:])
        #expect(wanted.status == 302 && wanted.headers[.location] == "https://www.acme.example/out")
        let scheme = try await gateway.get("/api/v1/logout?\(query)&redirect_url=adbe.acme://out", [:])
        #expect(scheme.headers[.location] == "adbe.acme://out")
        let fallback = try await gateway.get("/api/v1/logout?\(query)", [:])
        #expect(fallback.headers[.location] == "https://acme.example/bye")
        #expect(fallback.headers[.referrer] == "no-referrer")
        let none = try await gateway.get("/api/v1/logout?deviceId=dev-7f3a")
        #expect(none.status == 204)
        let other = try await gateway.get("/api/v1/logout?deviceId=dev-7f3a&redirect_url=https://acme-two.example/")
        #expect(other.headers[.location] == "https://acme-two.example/")
        let blank = try await gateway.get("/api/v1/logout?deviceId=dev-7f3a&requestor=&redirect_url=https://acme-two.example/")
        #expect(blank.headers[.location] == "https://acme-two.example/", "an empty requestor is none")
    }

    @Test("rest-v1 #108, §3.20: an adobepass address is one of the application's platforms or domains, else 400 and nothing is cleared")
    func applicationAddresses() async throws {
        let application = Application(
            id: "app1", requestorIDs: ["ACME1"], platforms: [.ios, .roku], redirectDomains: ["acme.example"], softwareIDs: ["s1"])
        gateway.catalogue.change { $0.applications = [application] }
        gateway.authentication.verifyAccessToken.answer(
            with: VerifiedClient(clientID: "c1", applicationID: "app1", requestorIDs: ["ACME1", "ACME2"]))
        for query in [TestGateway.deviceQuery, "deviceId=dev-7f3a"] {
            for url in ["adobepass://ios.app", "adobepass://ios.app/out?x=1", "adobepass://example.acme"] {
                let reply = try await gateway.get("/api/v1/logout?\(query)&redirect_url=\(url)")
                #expect(reply.status == 302 && reply.headers[.location] == url)
            }
            let cleared = gateway.authentication.logout.requests.count
            for url in ["adobepass://android.app", "adobepass://acme.example", "adobepass://ios.app@evil.example", "adobepass://"] {
                #expect(try await gateway.get("/api/v1/logout?\(query)&redirect_url=\(url)").status == 400)
            }
            #expect(gateway.authentication.logout.requests.count == cleared)
        }
        // Without a good token the owner of the address is unknown.
        gateway.authentication.verifyAccessToken.fail(with: Fault(.accessDenied, "x"))
        let stale = try await gateway.get("/api/v1/logout?\(TestGateway.deviceQuery)&redirect_url=adobepass://ios.app")
        #expect(stale.status == 401 && stale.headers[.location] == nil)
    }

    @Test func aWebViewWithABadTokenIsSentOnWithTheFault() async throws {
        gateway.authentication.logout.fail(with: Fault(.accessDenied, "x"))
        let query = "\(TestGateway.deviceQuery)&access_token=stale&device_info=\(TestGateway.deviceInformation)"
        let own = try await gateway.get("/api/v1/logout?\(query)&redirect_url=https://acme.example/out%3Fa=1%23top", [:])
        #expect(own.status == 302 && own.headers[.location] == "https://acme.example/out?a=1&error=access_denied#top")
        #expect(try await gateway.get("/api/v1/logout?\(query)", [:]).status == 401)
        gateway.authentication.verifyAccessToken.fail(with: Fault(.accessDenied, "x"))
        let foreign = try await gateway.get("/api/v1/logout?\(query)&redirect_url=https://evil.example/", [:])
        #expect(foreign.status == 401 && foreign.headers[.location] == nil)
    }

    @Test("rest-v1 #60 #68: decisions and media tokens have their fields")
    func decisions() async throws {
        let authorize = try await gateway.get("/api/v1/authorize?\(TestGateway.deviceQuery)&resource=ACME1-NEWS&mvpd=NorthCable")
        #expect(authorize.json["expires"] as? String == "1930384800123")
        #expect(Set(authorize.json.keys) == ["mvpd", "resource", "requestor", "expires"])
        #expect(gateway.authorization.authorize.requests.first?.mvpd == "NorthCable")
        let one = try await gateway.get("/api/v1/mediatoken?\(TestGateway.deviceQuery)&resource=ACME1-NEWS")
        let two = try await gateway.get("/api/v1/tokens/media?\(TestGateway.deviceQuery)&resource=ACME1-NEWS")
        #expect(Set(one.json.keys) == ["requestor", "resource", "mvpdId", "userId", "expires", "serializedToken"])
        #expect(one.text == two.text)
        let xml = try await gateway.get("/api/v1/mediatoken.xml?\(TestGateway.deviceQuery)&resource=ACME1-NEWS")
        #expect(xml.text.contains("<play><requestor>ACME1</requestor>"))
    }

    @Test("rest-v1 #65: a proxied MVPD is named beside the picked one")
    func proxied() async throws {
        gateway.authorization.authorize.answer(
            with: Decision(requestor: "ACME1", mvpd: "Small", proxyMvpd: "Big", resource: "r", expiresAtMilliseconds: 1))
        let reply = try await gateway.get("/api/v1/authorize.xml?\(TestGateway.deviceQuery)&resource=r")
        #expect(reply.text.contains("<authorization><mvpd>Small</mvpd>"))
        #expect(reply.text.contains("<proxyMvpd>Big</proxyMvpd>"))
    }
}
