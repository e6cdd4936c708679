internal import Contracts
internal import Faults
internal import Testing

@Suite struct ActivationTests {
    let gateway = TestGateway()

    @Test func theFormIsLabelledAndTakesTheCodeOfAQrCode() async throws {
        let reply = try await gateway.get("/activate?code=qk7-m2xd", [:])
        #expect(reply.status == 200 && reply.isHTML)
        #expect(reply.text.contains(#"<label for="code">"#))
        #expect(reply.text.contains(#"autocomplete="off""#))
        #expect(reply.text.contains(#"value="QK7M2XD""#))
        #expect(reply.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
        #expect(!reply.text.contains("<script"))
    }

    @Test(arguments: ["qk7m2xd", "QK7%20M2XD", "qk7-m2xd", "%20Q-K-7-M-2-X-D%20"])
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

    @Test(
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

    @Test func unknownAndExpiredCodesHaveOneTextAndUsedOnesTheirs() async throws {
        gateway.authentication.getRegistrationCode.fail(with: Fault(.invalidRegistrationCode, "x"))
        let unknown = try await gateway.get("/activate/providers?code=ZZZZZZZ", [:])
        #expect(unknown.status == 400 && unknown.text.contains("This code is not valid any more. Ask your TV for a new one."))
        let expired = try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", [:])
        #expect(expired.status == 400 && expired.text.contains("This code is not valid any more. Ask your TV for a new one."))
        gateway.authentication.getRegistrationCode.fail(with: Fault(.registrationCodeSpent, "x"))
        let used = try await gateway.get("/activate/providers?code=QK7M2XD", [:])
        #expect(used.status == 400 && used.text.contains("not valid any more"))
    }

    @Test func theChosenProviderIsStartedWithTheGatewaysOwnReturnAddress() async throws {
        let reply = try await gateway.get("/activate/sign-in?code=qk7m2xd&mvpd=NorthCable", [:])
        #expect(reply.status == 302)
        #expect(reply.headers[.setCookie]?.hasPrefix("__Host-signin-") == true)
        let request = try #require(gateway.authentication.startSignIn.requests.first)
        #expect(request.requestor == "ACME1" && request.mvpd == "NorthCable" && request.domainName == "acme.example")
        #expect(request.redirectURL == "https://tv.example/activate/done?code=QK7M2XD&requestor=ACME1")
    }

    @Test(arguments: [Fault.Code.unknownIntegration, .unimplemented])
    func aProviderThatCannotBeUsedIsExplained(code: Fault.Code) async throws {
        gateway.authentication.startSignIn.fail(with: Fault(code, "x"))
        let reply = try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=OpenFiber", [:])
        #expect(reply.status == 400 && reply.text.contains("Choose another one"))
    }

    @Test func theEndSaysWhetherThisCodeIsSignedIn() async throws {
        let uri = "/activate/done?code=QK7M2XD&requestor=ACME1"
        let good = try await gateway.get(uri, [:])
        #expect(good.status == 200 && good.text.contains("Your TV is connected"))
        #expect(gateway.authentication.getSessionByCode.requests == [SessionByCodeRequest(requestor: "ACME1", code: "QK7M2XD")])
        gateway.authentication.getSessionByCode.fail(with: Fault(.authenticationSessionMissing, "x"))
        let bad = try await gateway.get(uri, [:])
        #expect(bad.status == 200 && bad.text.contains("did not finish"))
        #expect(bad.text.contains("/activate/providers?code=QK7M2XD"))
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
