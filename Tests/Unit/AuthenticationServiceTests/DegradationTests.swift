import Catalogue
import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct DegradationTests {
    @Test("rest-v1 #92: AuthN-all signs a device in without its MVPD, by the code that it shows", arguments: Backend.allCases)
    func signsInWithoutMvpd(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        rig.degrade(.authnAll)
        let call = try await rig.call(rig.bearer())
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        let code = try await rig.code(call)
        let browser = try await rig.start(code.code)
        #expect(browser.start == SignInStart(url: "https://chan7.example/done"))
        #expect(rig.saml.requests.isEmpty)
        let session = try await rig.session(call)
        #expect(session.kind == .degraded && session.mvpd == "DemoCable")
        #expect(session.userID.count == 56 && session.userID.hasPrefix("95cf93bcd183214a"))
        #expect(session.userID.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(try await rig.session(byCode: code.code) == session)
        let subject = try await rig.sessions.findSession(SessionRequest(call: call), context: rig.context)
        #expect(subject.upstreamUserID == session.userID)
    }

    @Test("The id of a degraded session's user is the device's own, and always the same")
    func namesDevice() async throws {
        let rig = try Rig()
        rig.degrade(.authnAll)
        let bearer = try await rig.bearer()
        func userID(_ device: String, mvpd: String = "DemoCable") async throws -> String {
            let call = rig.call(bearer, device: device)
            _ = try await rig.start(rig.code(call).code, mvpd: mvpd)
            return try await rig.session(call).userID
        }
        let first = try await userID("dev-1")
        #expect(try await userID("dev-1") == first)
        #expect(try await userID("dev-2") != first)
    }

    @Test("A code signs in once, also without the MVPD", arguments: Backend.allCases)
    func usesCode(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let code = try await rig.code(rig.call(rig.bearer()))
        let waiting = try await rig.start(code.code)
        rig.degrade(.authnAll)
        _ = try await rig.start(code.code)
        await expectFault(.registrationCodeSpent) { _ = try await rig.start(code.code) }
        rig.saml.accept()
        #expect(try await rig.finish(waiting).result == .rejected)
        #expect(try await rig.session(byCode: code.code).kind == .degraded)
    }

    @Test("A degraded session ends with its rule or its TTL, whichever is first", arguments: [3600, 60])
    func ends(_ ttl: UInt32) async throws {
        let rig = try Rig()
        rig.catalogue.change { $0.integrations[0].authnTtlSeconds = ttl }
        rig.degrade(.authnAll, lasting: .seconds(600))
        let call = try await rig.call(rig.bearer())
        _ = try await rig.start(rig.code(call).code)
        let end = t0 + .seconds(min(600, Int64(ttl)))
        #expect(try await rig.session(call).expiresAtMilliseconds == UInt64(end.milliseconds))
        rig.clock.set(end)
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(call) }
    }

    @Test("rest-v1 #95: a rule that is removed, or ends early, ends its sessions at once", arguments: Backend.allCases)
    func endsWithRule(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        rig.degrade(.authnAll)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.code(call)
        _ = try await rig.start(code.code)
        var other = try #require(try rig.catalogue.current().configuration.degradationRules.first)
        other.id = "another"
        rig.catalogue.change { $0.degradationRules[0].endsAtMilliseconds = UInt64(t0.milliseconds) }
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(call) }
        rig.catalogue.change { $0.degradationRules = [] }
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(call) }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: code.code) }
        await expectFault(.authenticationSessionExpired) {
            _ = try await rig.sessions.findSession(SessionRequest(call: call), context: rig.context)
        }
        rig.catalogue.change { [other] in $0.degradationRules = [other] }
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(call) }
    }

    @Test("A regular login takes the place of a degraded session", arguments: Backend.allCases)
    func isReplaced(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        rig.degrade(.authnAll, lasting: .seconds(60))
        let call = try await rig.call(rig.bearer())
        _ = try await rig.start(rig.code(call).code)
        rig.clock.advance(by: .seconds(60))
        try await rig.signIn(call)
        let session = try await rig.session(call)
        #expect(session.kind == .regular && session.userID.count == 64)
    }

    @Test("AuthZ-all, AuthZ-none, a rule of another pair, platform or time: the MVPD signs people in")
    func leavesSignInAlone() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        let hour: UInt64 = 3_600_000
        func rule(_ kind: DegradationKind, requestor: String = "CHAN7", platforms: [Platform] = [], startsIn: UInt64 = 0) -> DegradationRule {
            let start = UInt64(t0.milliseconds) + startsIn
            return DegradationRule(
                id: "rule", kind: kind, requestorID: requestor, mvpdID: "DemoCable", platforms: platforms, startsAtMilliseconds: start,
                endsAtMilliseconds: start + hour)
        }
        let rules = [
            rule(.authzAll), rule(.authzNone), rule(.authnAll, requestor: "CHAN8"), rule(.authnAll, platforms: [.ios]),
            rule(.authnAll, startsIn: hour),
        ]
        for rule in rules {
            rig.catalogue.change { $0.degradationRules = [rule] }
            #expect(try await rig.start(rig.code(call).code).start.url == "https://idp.example/sso")
        }
        rig.catalogue.change { $0.degradationRules = [rule(.authnAll, platforms: [.roku])] }
        #expect(try await rig.start(rig.code(call).code).start.url == "https://chan7.example/done")
    }

    @Test("A bypass checks code, integration, domain and address as a sign-in does")
    func checksRequest() async throws {
        let rig = try Rig()
        rig.degrade(.authnAll)
        let code = try await rig.code(rig.call(rig.bearer())).code
        await expectFault(.invalidRedirectURL) { _ = try await rig.start(code, redirect: "https://foreign.example/") }
        await expectFault(.invalidDomain) { _ = try await rig.start(Rig.startRequest(code, domain: "foreign.example")) }
        await expectFault(.invalidRegistrationCode) { _ = try await rig.start("ZZZZZZZ") }
        rig.catalogue.change { $0.integrations[0].enabled = false }
        await expectFault(.unknownIntegration) { _ = try await rig.start(code) }
    }
}
