internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ActivationTests {
    let gateway = TestGateway()

    @Test("dashboard #50: the code of a link is filled in, and nothing is asked")
    func theFormIsLabelledAndTakesTheCodeOfAQrCode() async throws {
        let reply = try await gateway.get("/activate?code=qk7-m2xd", [:])
        #expect(reply.status == 200 && reply.isHTML)
        #expect(reply.text.contains(#"<label for="code">"#))
        #expect(reply.text.contains(#"autocomplete="off""#))
        #expect(reply.text.contains(#"value="QK7M2XD""#))
        #expect(reply.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
        #expect(!reply.text.contains("<script"))
        #expect(gateway.authentication.getRegistrationCode.requests.isEmpty)
    }

    @Test("dashboard #41: lower case, blanks and hyphens are accepted", arguments: ["qk7m2xd", "QK7%20M2XD", "qk7-m2xd", "%20Q-K-7-M-2-X-D%20"])
    func codesAreReadAsPeopleTypeThem(typed: String) async throws {
        let reply = try await gateway.get("/activate/providers?code=\(typed)", [:])
        #expect(reply.status == 200)
        #expect(gateway.authentication.getRegistrationCode.requests == [RegistrationCodeRequest(code: "QK7M2XD")])
    }

    @Test func listsTheProvidersThatABrowserCanSignInAt() async throws {
        let reply = try await gateway.get("/activate/providers?code=QK7M2XD", [:])
        #expect(reply.text.contains("<strong>Acme One</strong>"))
        #expect(reply.text.contains(#"href="/activate/sign-in?code=QK7M2XD&amp;mvpd=NorthCable""#))
        #expect(reply.text.contains("<span>North &amp; Cable</span>"))
        #expect(reply.text.contains("Lake Telecom"))
        #expect(!reply.text.contains("ParkedTV"))
    }

    @Test("an MVPD that is reached through another one is among the providers when that one signs people in", arguments: [true, false])
    func listsProxiedProviders(signsIn: Bool) async throws {
        var configuration = DemoCatalogue.configuration
        for index in configuration.mvpds.indices where configuration.mvpds[index].id == "LakeTel" {
            configuration.mvpds[index].signIn = nil
            configuration.mvpds[index].isProxied = true
            configuration.mvpds[index].proxyMvpdID = signsIn ? "NorthCable" : "Nobody"
        }
        let reply = try await TestGateway(configuration: configuration).get("/activate/providers?code=QK7M2XD", [:])
        #expect(reply.status == 200 && reply.text.contains("Lake Telecom") == signsIn)
    }

    @Test(
        "dashboard #41: a code that cannot be one is explained without a call",
        arguments: [
            ("", "Enter the code"), ("---", "Enter the code"), ("AB", "right length"), ("ABCDEFGHIJKLMNOPQRST", "right length"),
        ])
    func incompleteCodesAreExplainedWithoutAskingTheService(typed: String, text: String) async throws {
        let reply = try await gateway.get("/activate/providers?code=\(typed)", [:])
        #expect(reply.status == 400 && reply.isHTML)
        #expect(reply.text.contains(text))
        #expect(reply.text.contains(#"role="alert""#) && reply.text.contains(#"aria-invalid="true""#))
        #expect(gateway.authentication.getRegistrationCode.requests.isEmpty)
    }

    @Test("dashboard #43, #47: unknown, expired, replaced and used codes have one text")
    func unknownAndExpiredCodesHaveOneTextAndUsedOnesToo() async throws {
        gateway.authentication.getRegistrationCode.fail(with: Fault(.invalidRegistrationCode, "x"))
        let unknown = try await gateway.get("/activate/providers?code=ZZZZZZZ", [:])
        #expect(unknown.status == 400 && unknown.text.contains("We do not know this code. Check it, or ask your TV for a new one."))
        let expired = try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", [:])
        #expect(expired.status == 400 && expired.text.contains("We do not know this code. Check it, or ask your TV for a new one."))
        gateway.authentication.getRegistrationCode.fail(with: Fault(.registrationCodeSpent, "x"))
        let used = try await gateway.get("/activate/providers?code=QK7M2XD", [:])
        #expect(used.status == 400 && used.text.contains("We do not know this code."))
    }

    @Test func theChosenProviderIsStartedWithTheGatewaysOwnReturnAddress() async throws {
        let reply = try await gateway.confirm("NorthCable")
        #expect(reply.status == 302)
        #expect(reply.headers[.setCookie]?.hasPrefix("__Host-signin-") == true)
        let request = try #require(gateway.authentication.startSignIn.requests.first)
        #expect(request.requestor == "ACME1" && request.mvpd == "NorthCable" && request.domainName == "acme.example")
        #expect(request.redirectURL == "https://tv.example/activate/done?code=QK7M2XD&requestor=ACME1&mvpd=NorthCable")
    }

    @Test(
        "dashboard #49: an integration that was disabled between list and start is explained, and the list is one step away",
        arguments: [Fault.Code.unknownIntegration, .unimplemented])
    func aProviderThatCannotBeUsedIsExplained(code: Fault.Code) async throws {
        gateway.authentication.startSignIn.fail(with: Fault(code, "x"))
        let reply = try await gateway.confirm("OpenFiber")
        #expect(reply.status == 400 && reply.text.contains("Choose another one"))
        #expect(reply.text.contains(#"href="/activate/providers?code=QK7M2XD&amp;choose=1""#))
    }

    @Test("dashboard #48: who needs no MVPD, as signed in already, on a trial or degraded, gets to the end at once")
    func nobodyIsSentToAnMvpdInVain() async throws {
        gateway.authentication.startSignIn.answer(
            with: SignInStart(url: "https://tv.example/activate/done?code=QK7M2XD&requestor=ACME1&mvpd=NorthCable"))
        let reply = try await gateway.confirm("NorthCable")
        #expect(reply.status == 302 && reply.headers[.location]?.hasPrefix("https://tv.example/activate/done?") == true)
        #expect(!reply.headers[values: .setCookie].contains { $0.hasPrefix("__Host-signin") })
    }

    @Test("mvpd §2.2: a browser that drops SameSite=None gets every cookie of a sign-in without the attribute")
    func anOldBrowserKeepsTheCode() async throws {
        let reply = try await gateway.confirm("NorthCable", agent: SameSiteNoneTests.iOS12)
        let cookies = reply.headers[values: .setCookie]
        #expect(cookies.contains { $0.hasPrefix("__Host-signin-") && $0.hasSuffix("; HttpOnly; Secure") }, "\(cookies)")
        #expect(cookies.allSatisfy { !$0.contains("SameSite=None") })
    }

    @Test("dashboard #46: an answer that is refused, and a sign-in that was cancelled, lead back to the same code and provider, or to another one")
    func aFailedSignInKeepsTheCode() async throws {
        let start = try await gateway.confirm("NorthCable")
        let cookie = try #require(start.headers[values: .setCookie].first { $0.contains("activating") }?.prefix { $0 != ";" })
        gateway.authentication.completeSamlSignIn.answer(with: SignInOutcome(result: .rejected, traceID: "0af7651916cd43dd8448eb211c80319c"))
        let form = "SAMLResponse=x&RelayState=relay"
        let refused = try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: form, [.cookie: String(cookie)])
        #expect(refused.status == 400 && refused.text.contains("0af7651916cd43dd8448eb211c80319c"))
        let again = #"href="/activate/sign-in?code=QK7M2XD&amp;mvpd=NorthCable""#
        let other = #"href="/activate/providers?code=QK7M2XD&amp;choose=1""#
        #expect(refused.text.contains(again) && refused.text.contains(other))
        #expect(!(try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: form, [:]).text.contains("QK7M2XD")))
        #expect(
            !(try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: form, [.cookie: "__Host-activating=<b>.x"]).text.contains("Try again")))
        gateway.authentication.getSessionByCode.fail(with: Fault(.authenticationSessionMissing, "x"))
        let cancelled = try await gateway.get("/activate/done?code=QK7M2XD&requestor=ACME1&mvpd=NorthCable", [:])
        #expect(cancelled.text.contains(again) && cancelled.text.contains(other))
    }

    @Test("dashboard §8: a link alone begins no sign-in; the page before it tells channel, device and provider")
    func aLinkBeginsNoSignIn() async throws {
        let page = try await gateway.get("/activate/sign-in?code=qk7m2xd&mvpd=NorthCable", [:])
        #expect(page.status == 200 && gateway.authentication.startSignIn.requests.isEmpty)
        #expect(page.text.contains("Acme One") && page.text.contains("QK7M2XD") && page.text.contains("Sign in with "))
        #expect(page.text.contains("an unknown device") && page.text.contains("Connect this TV to <strong>Acme One</strong>?"))
        var code = TestGateway.code(call: nil)
        code.deviceLabel = "Livingroom <Roku>"
        gateway.authentication.getRegistrationCode.answer(with: code)
        let labelled = try await gateway.get("/activate/sign-in?code=qk7m2xd&mvpd=NorthCable", [:])
        #expect(labelled.text.contains("Connect <strong>Livingroom &lt;Roku&gt;</strong> to <strong>Acme One</strong>?"))
        #expect(labelled.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
        let unknown = try await gateway.get("/activate/sign-in?code=qk7m2xd&mvpd=NoSuchOne", [:])
        #expect(unknown.status == 400 && unknown.text.contains("Choose another one"))
    }

    @Test("dashboard §8: a form that another site, another browser or another code made begins no sign-in")
    func aForeignFormBeginsNoSignIn() async throws {
        let (cookie, token) = try await gateway.confirmation("/activate/sign-in?code=QK7M2XD&mvpd=NorthCable")
        let form = "code=QK7M2XD&mvpd=NorthCable&confirmation="
        let whole = form + token
        let own: HTTPFields = [.cookie: cookie]
        let foreign: [(String, HTTPFields)] = [
            (whole, [:]), (form, own), (whole, own.with(.secFetchSite, "cross-site")), (whole, own.with(.origin, "https://evil.example")),
            (whole, [.cookie: String(cookie.prefix(30))]), ("code=QK7M2XE&mvpd=NorthCable&confirmation=" + token, own),
        ]
        for (sent, headers) in foreign {
            let reply = try await gateway.post("/activate/sign-in", form: sent, headers)
            #expect(reply.status == 400 && reply.isHTML, "\(sent)")
            #expect(reply.text.contains("Go back to the page where you began") && !reply.text.contains("/devices"), "it is about a sign-in")
        }
        #expect(gateway.authentication.startSignIn.requests.isEmpty)
        #expect(try await gateway.post("/activate/sign-in", form: form + token, [.cookie: cookie]).status == 302)
    }

    @Test("a requestor that wants it has each sign-in confirmed, whichever page began it")
    func appsPagesAreConfirmedToo() async throws {
        var configuration = DemoCatalogue.configuration
        for index in configuration.requestors.indices where configuration.requestors[index].id == "ACME1" {
            configuration.requestors[index].confirmsSignIn = true
        }
        let gateway = TestGateway(configuration: configuration)
        let query =
            "requestor_id=ACME1&mso_id=NorthCable&reg_code=QK7M2XD&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example%2Fdone"
        let (cookie, token) = try await gateway.confirmation("/api/v1/authenticate?" + query)
        #expect(gateway.authentication.startSignIn.requests.isEmpty)
        #expect(try await gateway.post("/activate/authenticate", form: query, [.cookie: cookie]).status == 400)
        let reply = try await gateway.post("/activate/authenticate", form: query + "&confirmation=" + token, [.cookie: cookie])
        #expect(reply.status == 302)
        #expect(gateway.authentication.startSignIn.requests.map(\.redirectURL) == ["https://acme.example/done"])
    }

    private static let appsPage = "requestor_id=ACME1&reg_code=QK7M2XD&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example%2Fdone"

    @Test(
        "a confirmed sign-in is confirmed at every door: v1, the web SDK's, the device SDK's and v2's, by SAML, OAuth and an upstream",
        arguments: [
            "/api/v1/authenticate?mso_id=NorthCable&", "/api/v1/authenticate?mso_id=OpenFiber&", "/api/v1/authenticate?mso_id=CoastCable&",
            "/adobe-services/authenticate/saml?mso_id=NorthCable&", "/adobe-services/1.0/authenticate/saml?mso_id=OpenFiber&",
            "/api/v2/authenticate/ACME1/QK7M2XD?",
        ])
    func everyDoorIsConfirmed(door: String) async throws {
        var configuration = DemoCatalogue.configuration
        for index in configuration.requestors.indices where configuration.requestors[index].id == "ACME1" {
            configuration.requestors[index].confirmsSignIn = true
            configuration.requestors[index].bridge = RequestorBridge(upstreamID: "vendor", returnOrigin: "https://login.acme.example")
        }
        configuration.mvpds.append(Mvpd(id: "CoastCable", displayName: "Coast Cable", upstreamOnly: true))
        configuration.integrations.append(Integration(requestorID: "ACME1", mvpdID: "CoastCable", enabled: true, bridge: IntegrationBridge()))
        let gateway = TestGateway(configuration: configuration)
        gateway.authentication.getRegistrationCode.answer(with: RegistrationCode(code: "QK7M2XD", requestor: "ACME1", mvpd: "NorthCable"))
        let isV2 = door.hasPrefix("/api/v2/")
        // A bearer, with which its maker hands a sign-in over elsewhere, changes nothing.
        for headers in [HTTPFields(), [.authorization: "Bearer good"]] {
            let page = try await gateway.get(door + (isV2 ? "" : Self.appsPage), headers)
            #expect(page.status == 200 && page.isHTML && page.text.contains("name=\"confirmation\""), "\(page.text)")
        }
        #expect(gateway.authentication.startSignIn.requests.isEmpty)
        let (cookie, token) = try await gateway.confirmation(door + (isV2 ? "" : Self.appsPage))
        let mvpd = door.firstMatch(of: /mso_id=([A-Za-z]+)/).map { String($0.1) } ?? ""
        let form = isV2 ? "requestor_id=ACME1&reg_code=QK7M2XD&api=v2" : "mso_id=\(mvpd)&\(Self.appsPage)"
        for sent in [form, form + "&confirmation=guessed"] {
            #expect(try await gateway.post("/activate/authenticate", form: sent, [.cookie: cookie]).status == 400)
        }
        #expect(try await gateway.post("/activate/authenticate", form: form + "&confirmation=" + token, [:]).status == 400)
        #expect(gateway.authentication.startSignIn.requests.isEmpty)
        #expect(try await gateway.post("/activate/authenticate", form: form + "&confirmation=" + token, [.cookie: cookie]).status == 302)
        #expect(
            gateway.authentication.startSignIn.requests.map(\.mvpd) == [mvpd] && gateway.authentication.startSignIn.requests[0].accessToken.isEmpty)
    }

    @Test("dashboard #45: the last page asks whether this code is signed in, however one gets there")
    func theEndSaysWhetherThisCodeIsSignedIn() async throws {
        let uri = "/activate/done?code=QK7M2XD&requestor=ACME1"
        let good = try await gateway.get(uri, [:])
        #expect(good.status == 200 && good.text.contains("Your TV is connected"))
        #expect(gateway.authentication.getSessionByCode.requests == [SessionByCodeRequest(requestor: "ACME1", code: "QK7M2XD")])
        gateway.authentication.getSessionByCode.fail(with: Fault(.authenticationSessionMissing, "x"))
        let bad = try await gateway.get(uri, [:])
        #expect(bad.status == 200 && bad.text.contains("did not finish"))
        #expect(bad.text.contains("/activate/providers?code=QK7M2XD") && !bad.text.contains("connected"))
    }

    @Test(arguments: ["/activate/providers?code=QK7M2XD", "/activate/sign-in?code=QK7M2XD&mvpd=x", "/activate/done?code=QK7M2XD&requestor=ACME1"])
    func anAbsentServiceIsAPageThatAsksForPatience(uri: String) async throws {
        gateway.authentication.getRegistrationCode.fail(with: Fault(.unavailable, "x"))
        gateway.authentication.getSessionByCode.fail(with: Fault(.unavailable, "x"))
        let reply = try await gateway.get(uri, [:])
        #expect(reply.status == 503 && reply.isHTML)
        #expect(reply.headers[.retryAfter] == "1")
    }

    @Test func staticFilesAreValidatedByTag() async throws {
        let first = try await gateway.get("/assets/style.css", [:])
        #expect(first.status == 200 && first.headers[.contentType] == "text/css; charset=utf-8")
        let again = try await gateway.get("/assets/style.css", [.ifNoneMatch: try #require(first.headers[.eTag])])
        #expect(again.status == 304 && again.text.isEmpty)
        #expect(try await gateway.get("/assets/..%2Fentry.mustache", [:]).status == 404)
    }

    @Test func helpNamesEveryCode() async throws {
        let reply = try await gateway.get("/help/errors", [:])
        for code in ["authorization_denied_by_mvpd", "internal_error", "network_connection_timeout"] {
            #expect(reply.text.contains(#"id="\#(code)""#))
        }
    }
}

extension TestGateway {
    /// The cookie and the form's token of a page of confirmation.
    func confirmation(_ uri: String) async throws -> (cookie: String, token: String) {
        let page = try await get(uri, [:])
        let cookie = try #require(page.headers[.setCookie]?.prefix { $0 != ";" })
        let token = try #require(page.text.firstMatch(of: /name="confirmation" value="([^"]+)"/)?.output.1)
        return (String(cookie), String(token))
    }

    /// A person who presses the button.
    func confirm(_ mvpd: String, agent: String? = nil) async throws -> Reply {
        let (cookie, token) = try await confirmation("/activate/sign-in?code=QK7M2XD&mvpd=\(mvpd)")
        return try await post(
            "/activate/sign-in", form: "code=QK7M2XD&mvpd=\(mvpd)&confirmation=\(token)",
            agent.map { [.cookie: cookie, .userAgent: $0] } ?? [.cookie: cookie])
    }
}
