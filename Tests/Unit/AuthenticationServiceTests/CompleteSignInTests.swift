import Clocks
import Contracts
import Faults
import SamlProfile
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct CompleteSignInTests {
    @Test("rest-v1 #39: a completed sign-in shows at the code and at the device", arguments: Backend.allCases)
    func signsIn(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.code(call)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: code.code) }
        let browser = try await rig.start(code.code)
        rig.saml.accept()
        let outcome = try await rig.finish(browser)
        #expect(outcome.result == .signedIn)
        #expect(outcome.redirectURL == "https://chan7.example/done")
        #expect(outcome.traceID == rig.context.trace.traceID)
        let session = try await rig.session(call)
        #expect(session.mvpd == "DemoCable" && session.requestor == "CHAN7")
        #expect(session.createdAtMilliseconds == UInt64(t0.milliseconds))
        #expect(session.expiresAtMilliseconds == UInt64((t0 + .seconds(30 * 86_400)).milliseconds))
        #expect(try await rig.session(byCode: code.code) == session)
    }

    @Test("rest-v1 §7: the scrambled user id is stable for a person of an MVPD", arguments: Backend.allCases)
    func scramblesUserID(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        try await rig.signIn(rig.call(bearer))
        let first = try await rig.session(rig.call(bearer)).userID
        #expect(first.utf8.count == 64 && first.allSatisfy { "0123456789abcdef".contains($0) })
        try await rig.signIn(rig.call(bearer, requestor: "CHAN8", device: "dev-2"), assertion: "_assertion-2")
        #expect(try await rig.session(rig.call(bearer, requestor: "CHAN8", device: "dev-2")).userID == first)
        try await rig.signIn(rig.call(bearer), mvpd: "OtherCable", assertion: "_assertion-3")
        #expect(try await rig.session(rig.call(bearer)).userID != first)
    }

    @Test("rest-v1 #44: the person cancels at the MVPD")
    func declines() async throws {
        let (rig, call, code, browser) = try await pending()
        rig.saml.answer(.status(codes: ["Responder", "RequestDenied"]))
        let outcome = try await rig.finish(browser)
        #expect(outcome.result == .declined && outcome.redirectURL == "https://chan7.example/done")
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: code.code) }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        rig.saml.accept()
        #expect(try await rig.finish(browser).result == .rejected)
    }

    @Test("rest-v1 #103: a message that fails a check is refused, and a genuine one may still follow")
    func rejects() async throws {
        let (rig, call, code, browser) = try await pending()
        rig.saml.answer(.rejected(SamlRejection(.signatureInvalid, "The signature does not verify.")))
        let outcome = try await rig.finish(browser)
        #expect(outcome.result == .rejected && outcome.redirectURL.isEmpty)
        #expect(outcome.traceID == rig.context.trace.traceID)
        #expect(outcome.requestor == "CHAN7", "the page that tells it has that channel's look")
        let unknown = Browser(start: browser.start, relay: "nobody's")
        #expect(try await rig.finish(unknown).requestor.isEmpty)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: code.code) }
        rig.saml.accept()
        let accepted = try await rig.finish(browser)
        #expect(accepted.result == .signedIn && accepted.requestor.isEmpty)
        #expect(try await rig.session(call).mvpd == "DemoCable")
    }

    @Test("mvpd §2.6: statuses that need an operator give the error page; NoPassive is silent")
    func handlesOtherStatuses() async throws {
        let (rig, call, _, browser) = try await pending()
        rig.saml.answer(.status(codes: ["Requester", "InvalidNameIDPolicy"]))
        #expect(try await rig.finish(browser).result == .rejected)
        rig.saml.answer(.silent)
        #expect(try await rig.finish(browser).result == .silent)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test("mvpd #74: no RelayState, an unknown one, or another session's")
    func needsRelayState() async throws {
        let (rig, call, _, browser) = try await pending()
        let otherCode = try await rig.code(rig.call(rig.bearer(), device: "dev-2"))
        let other = try await rig.start(otherCode.code)
        rig.saml.accept()
        var answers = [browser.answer, browser.answer, browser.answer, browser.answer]
        answers[0].relayStatePresent = false
        answers[1].relayState = ""
        answers[2].relayState = "unknown"
        answers[3].relayState = other.relay
        for answer in answers { #expect(try await rig.finish(answer).result == .rejected) }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        #expect(try await rig.finish(browser).result == .signedIn)
    }

    @Test("mvpd #73: the cookie of another browser, or none")
    func needsCookie() async throws {
        let (rig, _, _, browser) = try await pending()
        rig.saml.accept()
        for secret in ["", "another", browser.start.browserSecret + "x"] {
            var answer = browser.answer
            answer.browserSecret = secret
            #expect(try await rig.finish(answer).result == .rejected)
        }
        #expect(try await rig.finish(browser).result == .signedIn)
    }

    @Test("mvpd §2.2: an MVPD for embedded browsers is content without a cookie, but not with a wrong one")
    func sparesCookie() async throws {
        let (rig, _, _, browser) = try await pending()
        rig.catalogue.change { configuration in
            var endpoint = TestCatalogue.endpoint([])
            endpoint.allowMissingCookie = true
            configuration.mvpds[0].signIn = .saml(endpoint)
        }
        rig.saml.accept()
        var answer = browser.answer
        answer.browserSecret = "another"
        #expect(try await rig.finish(answer).result == .rejected)
        answer.browserSecret = ""
        #expect(try await rig.finish(answer).result == .signedIn)
    }

    @Test("mvpd #70: a request that was answered or has expired", arguments: Backend.allCases)
    func refusesConsumed(_ backend: Backend) async throws {
        let (rig, call, _, browser) = try await pending(backend)
        rig.saml.accept()
        #expect(try await rig.finish(browser).result == .signedIn)
        #expect(try await rig.finish(browser).result == .rejected)
        let late = try await rig.start(rig.code(call).code)
        rig.clock.advance(by: .seconds(900))
        #expect(try await rig.finish(late).result == .rejected)
    }

    @Test("mvpd #71: of many simultaneous deliveries exactly one signs in", arguments: Backend.allCases)
    func acceptsOnce(_ backend: Backend) async throws {
        let (rig, _, _, browser) = try await pending(backend)
        rig.saml.accept()
        let results = try await withThrowingTaskGroup(of: SignInResult.self) { group in
            for _ in 0..<16 { group.addTask { try await rig.finish(browser).result } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0 == .signedIn } == 1)
        #expect(results.count { $0 == .rejected } == 15)
    }

    @Test("mvpd #71: of simultaneous deliveries to two copies of the service exactly one signs in", arguments: Backend.allCases)
    func acceptsOnceAmongCopies(_ backend: Backend) async throws {
        let (rig, call, _, browser) = try await pending(backend)
        rig.saml.accept()
        let copies = [rig.service, rig.copy()]
        let results = try await withThrowingTaskGroup(of: SignInResult.self) { group in
            for delivery in 0..<16 {
                group.addTask { try await copies[delivery % 2].completeSamlSignIn(browser.answer, context: rig.context).result }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0 == .signedIn } == 1)
        #expect(results.count { $0 == .rejected } == 15)
        // The same assertion in a new answer, at the copy that did not see the first.
        let other = rig.call(call.accessToken, device: "dev-2")
        let again = try await rig.start(rig.code(other).code)
        for copy in copies { #expect(try await copy.completeSamlSignIn(again.answer, context: rig.context).result == .rejected) }
    }

    @Test("mvpd #72: an assertion is good for one sign-in only", arguments: Backend.allCases)
    func refusesReplay(_ backend: Backend) async throws {
        let (rig, call, _, browser) = try await pending(backend)
        rig.saml.accept(assertion: "_same")
        #expect(try await rig.finish(browser).result == .signedIn)
        let other = rig.call(call.accessToken, device: "dev-2")
        let again = try await rig.start(rig.code(other).code)
        #expect(try await rig.finish(again).result == .rejected)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(other) }
    }

    @Test("Messages that are too large or not base64 never reach the XML")
    func refusesBadEncoding() async throws {
        let (rig, _, _, browser) = try await pending()
        rig.saml.accept()
        for message in ["", "%%%", "PFJl*c3BvbnNlLz4=", String(repeating: "AAAA", count: 70_000)] {
            var answer = browser.answer
            answer.samlResponse = message
            #expect(try await rig.finish(answer).result == .rejected)
        }
    }

    @Test("mvpd #80, #114: an address that is no longer registered is not followed")
    func fallsBackToDefaultRedirect() async throws {
        let (rig, call, _, browser) = try await pending()
        rig.catalogue.change { $0.requestors[0].domains = [Domain(name: "new.example")] }
        rig.saml.accept()
        let outcome = try await rig.finish(browser)
        #expect(outcome.result == .signedIn && outcome.redirectURL == "https://chan7.example/welcome")
        #expect(try await rig.session(call).mvpd == "DemoCable")
    }

    @Test("An integration that is switched off during the sign-in")
    func refusesDisabledIntegration() async throws {
        let (rig, call, _, browser) = try await pending()
        rig.catalogue.change { $0.integrations[0].enabled = false }
        rig.saml.accept()
        #expect(try await rig.finish(browser).result == .rejected)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test("A storage or catalogue failure is not an outcome of the sign-in")
    func reportsMissingCatalogue() async throws {
        let (rig, _, _, browser) = try await pending()
        let configuration = try rig.catalogue.current().configuration
        rig.saml.accept()
        rig.catalogue.publish(nil)
        await expectFault(.unavailable) { _ = try await rig.finish(browser) }
        rig.catalogue.publish(configuration)
        #expect(try await rig.finish(browser).result == .signedIn)
    }

    private func pending(_ backend: Backend = .sqlite) async throws -> (Rig, DeviceCall, RegistrationCode, Browser) {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.code(call)
        return (rig, call, code, try await rig.start(code.code))
    }
}
