import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct StartSignInTests {
    @Test("rest-v1 #39: a live code leads to the MVPD's login", arguments: Backend.allCases)
    func starts(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let code = try await rig.code(rig.call(rig.bearer()))
        let browser = try await rig.start(code.code.lowercased())
        #expect(browser.start.url == "https://idp.example/sso")
        #expect(browser.start.browserSecret.count >= 22)
        #expect(browser.start.expiresInSeconds == 900)
        let request = try #require(rig.saml.requests.first)
        #expect(request.requestor == RequestorID("CHAN7") && request.provider.mvpd.id == "DemoCable")
        #expect(request.relay.text.utf8.count <= 80)
        let pending = try #require(await rig.store.pending(request.relay.digest, now: rig.clock.now()))
        #expect(pending.expiresAt == t0 + .seconds(900))
        #expect(pending.browserSecret?.matches(BrowserSecret(browser.start.browserSecret)) == true)
    }

    @Test("rest-v1 §5: a sign-in is pending no longer than its code lives")
    func endsWithCode() async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()), ttl: 60)
        #expect(try await rig.start(code.code).start.expiresInSeconds == 60)
    }

    @Test("rest-v1 #40: a code of another requestor, unknown or expired")
    func refusesForeignCode() async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()))
        await expectFault(.invalidRegistrationCode) {
            _ = try await rig.start(code.code, requestor: "CHAN8", redirect: "https://chan8.example/")
        }
        await expectFault(.invalidRegistrationCode) { _ = try await rig.start("ZZZZZZZ") }
        rig.clock.advance(by: .seconds(1800))
        await expectFault(.invalidRegistrationCode) { _ = try await rig.start(code.code) }
    }

    @Test("rest-v1 #41: a domain that is not registered", arguments: ["chan8.example", "sub.chan7.example", "example"])
    func refusesForeignDomain(_ domain: String) async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()))
        await expectFault(.invalidDomain) { _ = try await rig.start(Rig.startRequest(code.code, domain: domain)) }
        _ = try await rig.start(Rig.startRequest(code.code, domain: "CHAN7.Example"))
    }

    @Test(
        "rest-v1 #42: a redirect_url on a foreign host",
        arguments: [
            "https://evil.example/", "https://chan7.example.evil.example/", "https://evilchan7.example/", "https://chan7.example@evil.example/",
            "https://evil.example\\.chan7.example/", "https://evil.example#.chan7.example", "https://evil.example%2f.chan7.example/",
            "https://chan8.example/", "javascript:alert(1)", "data:text/html,x", "//chan7.example/", "/relative", "https:///chan7.example",
            "ftp://chan7.example/", "https://chan7.example:99999/", "https://chan7.example/\u{1}", "https://chan7.example/ x",
            "http://chan7.example/done", "http://127.0.0.1:8081/done", "http://127.0.0.1/done", "https://127.0.0.1:8080/done", "adbe.other://x",
        ])
    func refusesForeignRedirect(_ redirect: String) async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()))
        await expectFault(.invalidRedirectURL) { _ = try await rig.start(code.code, redirect: redirect) }
        #expect(rig.saml.requests.isEmpty)
    }

    @Test(
        "what keeps a redirect URL from being accepted is told by its cause",
        arguments: [
            ("", "is missing"), ("http://chan7.example/done", "by plain HTTP"), ("HTTP://www.chan7.example/", "by plain HTTP"),
            ("https://evil.example/", "at no domain"), ("http://evil.example/", "at no domain"), ("adbe.other://x", "scheme that is not registered"),
            ("/relative", "no absolute address"),
        ])
    func explainsRefusedRedirect(_ redirect: String, _ words: String) async throws {
        let rig = try Rig()
        let catalogue = try rig.catalogue.current()
        let requestor = try #require(catalogue.requestor("CHAN7"))
        do throws(Fault) {
            try SignInEnds(activationOrigins: []).require(redirect, at: requestor, of: nil, in: catalogue)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .invalidRedirectURL && error.message.contains(words) && !error.message.contains("example"), "\(error.message)")
        }
    }

    @Test(
        "rest-v1 §3.7: accepted forms of redirect_url",
        arguments: [
            "https://chan7.example/done", "https://www.chan7.example:8080", "HTTPS://CHAN7.EXAMPLE/x?y=https://evil.example",
            "adbe.channelseven://done", "adobepass://example.chan7", "http://127.0.0.1:8080/activate/done?code=QK7M2XD",
        ])
    func acceptsRedirect(_ redirect: String) async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()))
        #expect(try await rig.start(code.code, redirect: redirect).start.url == "https://idp.example/sso")
    }

    @Test(
        "rest-v1 #101: an SDK's address belongs to the platform of the application that made the code",
        arguments: [
            ("phone", "adobepass://ios.app", true), ("tv", "adobepass://ios.app", false), ("amazon", "adobepass://android.app", true),
            ("phone", "adobepass://android.app", false), ("phone", "adobepass://evil.app", false),
        ])
    func checksApplicationAddress(_ application: String, _ redirect: String, _ isAccepted: Bool) async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer(application)))
        if isAccepted {
            _ = try await rig.start(code.code, redirect: redirect)
        } else {
            await expectFault(.invalidRedirectURL) { _ = try await rig.start(code.code, redirect: redirect) }
        }
    }

    @Test("rest-v1 #51: an integration that is switched off or unknown", arguments: ["ParkedTV", "Nobody"])
    func refusesInactiveIntegration(_ mvpd: String) async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()))
        await expectFault(.unknownIntegration) { _ = try await rig.start(code.code, mvpd: mvpd) }
    }

    @Test("rest-v1 §3.7: each parameter is needed, and the requestor comes first")
    func refusesMissingParameters() async throws {
        let rig = try Rig()
        await expectFault(.invalidRequestor) { _ = try await rig.start(StartSignInRequest()) }
        await expectFault(.invalidRequestor) { _ = try await rig.start(StartSignInRequest(requestor: "NOBODY")) }
        let whole = Rig.startRequest("QK7M2XD")
        for remove in [\StartSignInRequest.mvpd, \.registrationCode, \.domainName, \.redirectURL]
            as [WritableKeyPath<StartSignInRequest, String> & Sendable]
        {
            var request = whole
            request[keyPath: remove] = ""
            await expectFault(.invalidRequest) { _ = try await rig.start(request) }
        }
    }

    @Test("An MVPD without a sign-in for browsers")
    func saysWhatIsMissing() async throws {
        let rig = try Rig()
        let code = try await rig.code(rig.call(rig.bearer()))
        rig.catalogue.change { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "DemoCable" { configuration.mvpds[index].signIn = nil }
        }
        await expectFault(.unimplemented) { _ = try await rig.start(code.code) }
    }

    @Test(
        "clients #81: a sign-in begins again and again; five are good at one time, and the first success ends the others", arguments: Backend.allCases
    )
    func beginsAgain(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let code = try await rig.code(rig.call(rig.bearer()))
        var browsers: [Browser] = []
        for number in 0..<7 { browsers.append(try await rig.start(code.code, mvpd: number.isMultiple(of: 2) ? "DemoCable" : "OtherCable")) }
        rig.saml.answer(.status(codes: ["Responder", "AuthnFailed"]))
        #expect(try await rig.finish(browsers[5]).result == .declined)
        rig.saml.accept()
        for number in [0, 1, 5] { #expect(try await rig.finish(browsers[number]).result == .rejected, "\(number)") }
        #expect(try await rig.finish(browsers[2]).result == .signedIn)
        for number in [2, 3, 4, 6] { #expect(try await rig.finish(browsers[number]).result == .rejected, "\(number)") }
    }

    @Test(
        "clients #73, #76: the code's maker hands a sign-in over: any agent brings the answer, once, within 15 minutes", arguments: Backend.allCases)
    func handsOver(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let code = try await rig.code(rig.call(bearer))
        var request = Rig.startRequest(code.code)
        request.accessToken = bearer
        let late = try await rig.start(request)
        #expect(late.start.browserSecret.isEmpty && late.start.expiresInSeconds == 900)
        rig.saml.accept()
        rig.clock.advance(by: .seconds(901))
        #expect(try await rig.finish(late).result == .rejected)
        let handed = try await rig.start(request)
        var framed = handed.answer
        framed.isEmbedded = true
        #expect(try await rig.finish(framed).result == .rejected, "a hidden frame brings nothing")
        var elsewhere = handed.answer
        elsewhere.browserSecret = "another browser's cookie"
        #expect(try await rig.finish(elsewhere).result == .signedIn)
        #expect(try await rig.finish(handed).result == .rejected, "once")
    }

    @Test("clients #75: without a bearer, with a wrong or another client's, and where a person is to confirm, nothing is handed over")
    func handsNothingOver() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        let code = try await rig.code(rig.call(bearer))
        for other in ["", "nonsense", try await rig.bearer(), try await rig.bearer("foreign")] {
            var request = Rig.startRequest(code.code)
            request.accessToken = other
            let browser = try await rig.start(request)
            #expect(!browser.start.browserSecret.isEmpty)
            rig.saml.accept()
            var elsewhere = browser.answer
            elsewhere.browserSecret = ""
            #expect(try await rig.finish(elsewhere).result == .rejected)
        }
        rig.catalogue.change { $0.requestors[0].confirmsSignIn = true }
        var request = Rig.startRequest(code.code)
        request.accessToken = bearer
        #expect(try await !rig.start(request).start.browserSecret.isEmpty)
    }

    @Test("rest-v1 #102: a code starts no sign-in after one succeeded, but does after one failed", arguments: Backend.allCases)
    func usesCodeOnce(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let code = try await rig.code(rig.call(rig.bearer()))
        let declined = try await rig.start(code.code)
        rig.saml.answer(.status(codes: ["Responder", "AuthnFailed"]))
        #expect(try await rig.finish(declined).result == .declined)
        let accepted = try await rig.start(code.code)
        rig.saml.accept()
        #expect(try await rig.finish(accepted).result == .signedIn)
        await expectFault(.registrationCodeSpent) { _ = try await rig.start(code.code) }
    }

    @Test("rest-v1 §3.6: deleting the code ends a sign-in under way")
    func failsAfterDeletion() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        let code = try await rig.code(rig.call(bearer))
        let browser = try await rig.start(code.code)
        let request = RegistrationCodeRequest(accessToken: bearer, requestor: "CHAN7", code: code.code)
        _ = try await rig.service.deleteRegistrationCode(request, context: rig.context)
        rig.saml.accept()
        #expect(try await rig.finish(browser).result == .rejected)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(rig.call(bearer)) }
    }
}
