internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import HTTPTypes
internal import Hummingbird
internal import Testing

/// Where a sign-in begins for an app: a person who opens the address reads a page, an app gets what it always got.
@Suite struct PersonPageTests {
    private static let query = "mso_id=NorthCable&reg_code=QK7M2XD&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example%2Fdone"
    private static let uri = "/api/v1/authenticate?requestor_id=ACME1&" + query
    private static let trace: HTTPFields = [.traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"]
    private static let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

    /// What a person's browser sends.
    private static let persons: [HTTPFields] = [
        [.secFetchMode: "navigate", .secFetchDest: "document"], [.accept: browser], [.accept: "text/html"],
        [.secFetchMode: "navigate", .accept: "*/*"],
    ]
    /// What an app, a script or a frame sends.
    private static let apps: [HTTPFields] = [
        [:], [.accept: "*/*"], [.accept: "application/json"], [.accept: "application/json, text/html;q=0.5"], [.accept: "text/html;q=0"],
        [.accept: browser + String(repeating: ",image/png", count: 100)], [.secFetchMode: "cors", .secFetchDest: "empty"],
        [.secFetchMode: "navigate", .secFetchDest: "iframe", .accept: browser],
    ]

    @Test(
        "a person reads a page with status and code of the API's answer; an app's answer is the same, octet for octet",
        arguments: [
            Fault.Code.invalidRegistrationCode, .registrationCodeSpent, .unknownIntegration, .invalidDomain, .invalidRedirectURL, .unavailable,
            .internal, .tooManyRequests,
        ])
    func personsReadPages(code: Fault.Code) async throws {
        for requestor in ["ACME1", "BRAVO"] {
            let gateway = TestGateway()
            gateway.authentication.startSignIn.fail(with: Fault(code, "Words."))
            let uri = "/api/v1/authenticate?requestor_id=\(requestor)&" + Self.query
            let documents = try await Self.apps.asyncMap { try await gateway.get(uri, Self.trace.merging($0)) }
            for (headers, document) in zip(Self.apps, documents) {
                #expect(!document.isHTML, "\(headers)")
                let plain = try await gateway.get(uri, Self.trace.merging(headers[.accept].map { [.accept: $0] } ?? [:]))
                if headers[.secFetchDest] != "iframe" { #expect(document.text == plain.text && document.headers == plain.headers, "\(headers)") }
            }
            for headers in Self.persons {
                let page = try await gateway.get(uri, Self.trace.merging(headers))
                #expect(page.isHTML && page.status == documents[0].status, "\(headers)")
                #expect(page.headers[.retryAfter] == documents[0].headers[.retryAfter])
                #expect(page.headers[.cacheControl] == "no-store" && page.text.contains("4bf92f3577b34da6a3ce929d0e0e4736"))
                let enhanced = documents[2].status == 429 ? nil : documents[2].json["code"] as? String
                if requestor == "BRAVO", let enhanced { #expect(page.text.contains(#"Error code: <span class="trace">\#(enhanced)</span>"#)) }
            }
        }
    }

    @Test("unknown, ended and used codes have one page, so that nobody learns which codes there were")
    func noOracle() async throws {
        var pages: [String] = []
        for code in [Fault.Code.invalidRegistrationCode, .registrationCodeSpent] {
            let gateway = TestGateway()
            gateway.authentication.startSignIn.fail(with: Fault(code, "Words."))
            let page = try await gateway.get(Self.uri, Self.trace.merging(Self.persons[0]))
            #expect(page.text.contains("We do not know this code. Check it, or ask your TV for a new one."))
            pages.append(page.text)
        }
        #expect(pages[0] == pages[1])
    }

    @Test("the page speaks the person's language, and has the look of the channel that the address names")
    func hasLanguageAndLook() async throws {
        let gateway = TestGateway()
        gateway.authentication.startSignIn.fail(with: Fault(.invalidRegistrationCode, "Words."))
        let page = try await gateway.get(Self.uri, [.secFetchMode: "navigate", .acceptLanguage: "fr"])
        #expect(page.text.contains("Nous ne connaissons pas ce code.") && page.text.contains("<span>Acme One</span>"))
        let nameless = try await gateway.get("/api/v1/authenticate?requestor_id=Nobody&" + Self.query, [.accept: "text/html"])
        #expect(nameless.status == 400 && nameless.isHTML && !nameless.text.contains(#"class="channel""#))
        let missing = try await gateway.get("/api/v1/authenticate", [.accept: "text/html"])
        #expect(missing.status == 400 && missing.isHTML && missing.text.contains("invalid_requestor"))
    }

    @Test("who sends too many wrong codes reads a page too, with the same status and pause")
    func pausesArePages() async throws {
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: ThrottleSettings(perSecond: 1000, burst: 1000), clock: SetClock())
        gateway.authentication.startSignIn.fail(with: Fault(.invalidRegistrationCode, "Words."))
        let address: HTTPFields = [.forwardedFor: "203.0.113.9"]
        try await gateway.exchange(over: .live) { client in
            for number in 0..<5 {
                let uri = Self.uri.replacing("QK7M2XD", with: "QK7M2X\(number)")
                _ = try await client.execute(uri: uri, method: .get, headers: address, body: nil) { Reply($0) }
            }
            let app = try await client.execute(uri: Self.uri, method: .get, headers: address, body: nil) { Reply($0) }
            #expect(app.status == 429 && app.text == "429 Too Many Requests")
            let page = try await client.execute(uri: Self.uri, method: .get, headers: address.merging(Self.persons[0]), body: nil) { Reply($0) }
            #expect(page.status == 429 && page.isHTML && page.text.contains("Too many attempts"))
            #expect(page.headers[.retryAfter] == app.headers[.retryAfter])
        }
    }

    @Test("an answer of an MVPD that is refused has a page in the look of the channel for which the sign-in was, whoever began it")
    func refusedAnswersHaveTheLook() async throws {
        let gateway = TestGateway()
        gateway.authentication.completeSamlSignIn.answer(with: SignInOutcome(result: .rejected, requestor: "ACME1"))
        let refused = try await gateway.post("/sp/saml/SAMLAssertionConsumer", form: "SAMLResponse=PHg%2B&RelayState=abc", [:])
        #expect(refused.status == 400 && refused.text.contains("<span>Acme One</span>"))
        let broken = try await gateway.post(
            "/sp/saml/SAMLAssertionConsumer", form: "SAMLResponse=a&SAMLResponse=a", [.cookie: "__Host-activating=QK7M2XD.NorthCable.ACME2."])
        #expect(broken.status == 400 && broken.text.contains("<span>Acme Two</span>") && broken.text.contains("Try again"))
    }
}

extension HTTPFields {
    fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
        var fields = self
        for field in others { fields[field.name] = field.value }
        return fields
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
