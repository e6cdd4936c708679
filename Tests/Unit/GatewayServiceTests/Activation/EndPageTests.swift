internal import Contracts
internal import Faults
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import HTTPTypes
internal import Hummingbird
internal import Testing

/// The last page of a sign-in, and the pages that a channel's pages link to.
@Suite struct EndPageTests {
    private static let end = "https://tv.example/activate/done?code=QK7M2XD&requestor=ACME1&mvpd=NorthCable"
    private static let endTarget = "/activate/done?code=QK7M2XD&requestor=ACME1&mvpd=NorthCable"

    /// A person who has pressed the button on the page of confirmation, and what the cookie of it says.
    private static func begun(_ device: String = "Livingroom Roku") async throws -> (gateway: TestGateway, cookie: String) {
        let gateway = TestGateway()
        var code = TestGateway.code(call: nil)
        code.deviceLabel = device
        gateway.authentication.getRegistrationCode.answer(with: code)
        let start = try await gateway.confirm("NorthCable")
        return (gateway, try activating(start))
    }

    private static func activating(_ reply: Reply) throws -> String {
        String(try #require(reply.headers[values: .setCookie].first { $0.contains("activating") }?.prefix { $0 != ";" }))
    }

    private static func returned(_ gateway: TestGateway, _ cookie: String, to address: String = end) async throws -> Reply {
        gateway.authentication.completeSamlSignIn.answer(with: SignInOutcome(result: .signedIn, redirectURL: address))
        return try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: "SAMLResponse=x&RelayState=relay", [.cookie: cookie])
    }

    @Test("the last page names provider and device in the browser that has signed in, and in no other")
    func namesProviderAndDevice() async throws {
        let (gateway, cookie) = try await Self.begun("Livingroom <Roku>\u{202E}")
        let done = try Self.activating(try await Self.returned(gateway, cookie))
        for _ in 0..<2 {
            let page = try await gateway.get(Self.endTarget, [.cookie: done])
            #expect(
                page.text.contains("with <strong>North &amp; Cable</strong> on <strong>Livingroom &lt;Roku&gt;</strong>."),
                "also when it is loaded again")
        }
        for other in ["", cookie, "__Host-activating=QK7M2XD.NorthCable", done.replacing("QK7M2XD", with: "QK7M2XE")] {
            let page = try await gateway.get(Self.endTarget, [.cookie: other])
            #expect(page.text.contains("Your TV is connected") && page.text.contains("You are signed in."), "\(other)")
            #expect(!page.text.contains("North &amp; Cable") && !page.text.contains("Roku"), "\(other)")
        }
        gateway.authentication.getSessionByCode.fail(with: Fault(.authenticationSessionMissing, "x"))
        #expect(!(try await gateway.get(Self.endTarget, [.cookie: done]).text.contains("Roku")), "nor where nobody is signed in")
    }

    @Test("a device that has not said what it is, or says too much, is not named; nor is anything where the sign-in ends elsewhere")
    func namesNoMoreThanItKnows() async throws {
        for device in ["", String(repeating: "\u{1F4FA}\u{FE0E}\u{301}\u{301}", count: 80)] {
            let (gateway, cookie) = try await Self.begun(device)
            let page = try await gateway.get(Self.endTarget, [.cookie: try Self.activating(try await Self.returned(gateway, cookie))])
            #expect(page.text.contains("You are signed in with <strong>North &amp; Cable</strong>."))
        }
        let (gateway, cookie) = try await Self.begun()
        for address in [
            "https://acme.example/done", Self.end.replacing("QK7M2XD", with: "QK7M2XE"), "https://acme.example/?/activate/done?code=QK7M2XD&",
        ] {
            let reply = try await Self.returned(gateway, cookie, to: address)
            #expect(!reply.headers[values: .setCookie].contains { $0.contains("activating") }, "\(address)")
        }
    }

    @Test("who needs no MVPD, as signed in already or on a trial, reads the same on the last page")
    func namesWithoutAnMvpd() async throws {
        let gateway = TestGateway()
        gateway.authentication.startSignIn.answer(with: SignInStart(url: Self.end))
        let cookie = try Self.activating(try await gateway.confirm("NorthCable"))
        #expect(try await gateway.get(Self.endTarget, [.cookie: cookie]).text.contains("You are signed in with <strong>North &amp; Cable</strong>."))
    }

    @Test("once it is done, a page about a failure leads back to nothing")
    func doneOffersNoSecondAttempt() async throws {
        let (gateway, cookie) = try await Self.begun()
        let broken = "SAMLResponse=a&SAMLResponse=a"
        let before = try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: broken, [.cookie: cookie])
        #expect(before.text.contains("Try again"))
        let done = try Self.activating(try await Self.returned(gateway, cookie))
        let after = try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: broken, [.cookie: done])
        #expect(after.status == 400 && !after.text.contains("Try again"))
    }

    @Test("a channel's pages for privacy, terms and help are linked on each of its pages, and open beside them")
    func linksToTheChannelsPages() async throws {
        var configuration = DemoCatalogue.configuration
        configuration.requestors[0].privacyURL = "https://acme.example/privacy?a=1&b=2#tv"
        configuration.requestors[0].termsURL = "https://acme.example/terms"
        configuration.requestors[0].supportURL = "javascript:alert(1)"
        let gateway = TestGateway(configuration: configuration)
        for uri in [
            "/activate?requestor=ACME1", "/activate/providers?code=AB&requestor=ACME1", "/activate/providers?code=QK7M2XD",
            "/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", Self.endTarget,
        ] {
            let page = try await gateway.get(uri, [.acceptLanguage: "de"])
            let privacy = #"<a href="https://acme.example/privacy?a=1&amp;b=2#tv" target="_blank" rel="noopener">Datenschutz<"#
            #expect(page.text.contains(privacy) && page.text.contains(#"rel="noopener">Nutzungsbedingungen<"#), "\(uri)")
            #expect(!page.text.contains(">Hilfe<") && !page.text.contains("javascript"), "what no catalogue could have is no link")
        }
        for uri in ["/activate", "/activate?requestor=ACME2"] { #expect(!(try await gateway.get(uri, [:]).text.contains("noopener"))) }
    }

    @Test("no app reads these addresses: neither configuration document has them")
    func documentsOfAppsAreTheSame() async throws {
        var configuration = DemoCatalogue.configuration
        configuration.requestors[0].privacyURL = "https://acme.example/privacy"
        configuration.requestors[0].termsURL = "https://acme.example/terms"
        configuration.requestors[0].supportURL = "https://acme.example/support"
        let gateway = TestGateway(configuration: configuration)
        for uri in ["/api/v1/config/ACME1.json", "/api/v1/config/ACME1.xml", "/adobe-services/config/ACME1", "/api/v2/ACME1/configuration"] {
            let reply = try await gateway.get(uri)
            #expect(reply.status == 200 && reply.text.contains("NorthCable"), "\(uri)")
            for word in ["privacy", "terms", "support", "Privacy", "Terms", "Support"] { #expect(!reply.text.contains(word), "\(uri): \(word)") }
        }
    }

    @Test("the field is marked as wrong when another code is the remedy, and only then")
    func onlyARefusedFieldIsRed() async throws {
        let gateway = TestGateway()
        let wrong = try await gateway.get("/activate/providers?code=AB", [:])
        #expect(wrong.text.contains(#"<p class="problem" id="problem""#) && wrong.text.contains(#"aria-invalid="true""#))
        let parked = try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=ParkedTV", [:])
        #expect(parked.text.contains(#"<p class="advice" id="problem" role="alert""#) && !parked.text.contains("aria-invalid"))
        #expect(parked.text.contains("<span>Acme One</span>"), "a page about a known code has its channel's look")
    }

    @Test("the channel of the first page stays when a code is refused")
    func theLookStays() async throws {
        let gateway = TestGateway()
        let entry = try await gateway.get("/activate?requestor=ACME1", [:])
        #expect(entry.text.contains(#"<input type="hidden" name="requestor" value="ACME1">"#))
        #expect(try await gateway.get("/activate/providers?requestor=ACME1&code=AB", [:]).text.contains("<span>Acme One</span>"))
        #expect(!(try await gateway.get("/activate?requestor=nobody", [:]).text.contains(#"name="requestor""#)))
    }
}
