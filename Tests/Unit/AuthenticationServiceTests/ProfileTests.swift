import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Profiles of REST v2 as time goes by.
struct ProfileTests {
    private static let halfAnHour = Duration.seconds(31 * 60)

    @Test(
        "clients #77, rest-v2 #55: a code that has done its work tells its maker of the profile, past its end and past a newer code; others, and a browser, nothing",
        arguments: Backend.allCases)
    func toldAfterItsEnd(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let client = try await rig.register("old")
        let call = rig.v2Call(try await rig.token(of: client).accessToken)
        let code = try await rig.signIn(planned: call)
        let other = try await rig.bearer("old")
        #expect(try await rig.profiles(byCode: code, other).count == 1)
        rig.clock.advance(by: Self.halfAnHour)
        #expect(try await rig.plan(call, mvpd: "OtherCable").code != nil)
        #expect(try await rig.profiles(byCode: code, call.accessToken).map(\.session?.mvpd) == ["DemoCable"])
        let decided = try await rig.sessions.findSession(SessionRequest(call: call, mvpd: "DemoCable"), context: rig.context)
        #expect(decided.session?.mvpd == "DemoCable")
        await expectFault(.invalidRegistrationCode) { _ = try await rig.profiles(byCode: code, other) }
        await expectFault(.invalidRegistrationCode) { _ = try await rig.start(planned: code) }
        rig.clock.advance(by: .seconds(30 * 86_400))
        let late = try await rig.token(of: client).accessToken
        await expectFault(.registrationCodeSpent) { _ = try await rig.profiles(byCode: code, late) }
    }

    @Test(
        "clients #78, rest-v2 #38, #55: past its end a code that nobody has signed in with is nothing to its maker either",
        arguments: Backend.allCases)
    func unfinished(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = rig.v2Call(try await rig.bearer("old"))
        let code = try #require(try await rig.plan(call).code?.code)
        #expect(try await rig.profiles(byCode: code, call.accessToken).isEmpty)
        rig.clock.advance(by: Self.halfAnHour)
        await expectFault(.registrationCodeSpent) { _ = try await rig.profiles(byCode: code, call.accessToken) }
        await expectFault(.registrationCodeSpent) {
            _ = try await rig.service.continueSignIn(
                ContinueSignInRequest(accessToken: call.accessToken, requestor: "CHAN7", code: code), context: rig.context)
        }
    }

    @Test(
        "clients #79, #85: a token that is over or whose client is revoked asks in vain, a new one finds code and login again",
        arguments: Backend.allCases)
    func renewedTokens(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let client = try await rig.register("old")
        var token = try await rig.token(of: client).accessToken
        let code = try await rig.signIn(planned: rig.v2Call(token))
        for _ in 0..<2 {
            rig.clock.advance(by: .seconds(6 * 3600))
            await expectFault(.accessDenied) { _ = try await rig.profiles(byCode: code, token) }
            await expectFault(.accessDenied) { _ = try await rig.profiles(rig.v2Call(token), at: "DemoCable") }
            token = try await rig.token(of: client).accessToken
            #expect(try await rig.profiles(byCode: code, token).count == 1)
            #expect(try await rig.profiles(rig.v2Call(token), at: "DemoCable").count == 1)
        }
        #expect(try await rig.operations.revokeClient(.init(clientID: client.clientID), context: rig.context).wasKnown)
        await expectFault(.invalidClient) { _ = try await rig.profiles(byCode: code, token) }
        await expectFault(.invalidClient) { _ = try await rig.profiles(rig.v2Call(token), at: "DemoCable") }
    }

    @Test("clients #76: the MVPD's answer to a login that was handed over counts once, and not after 15 minutes", arguments: Backend.allCases)
    func handedOver(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = rig.v2Call(try await rig.bearer("old"))
        let code = try #require(try await rig.plan(call).code?.code)
        rig.saml.accept()
        let late = try await rig.start(planned: code, bearer: call.accessToken)
        #expect(late.start.browserSecret.isEmpty)
        rig.clock.advance(by: .seconds(901))
        #expect(try await rig.finish(late).result == .rejected)
        let handed = try await rig.start(planned: code, bearer: call.accessToken)
        var elsewhere = handed.answer
        elsewhere.browserSecret = "another browser's cookie"
        #expect(try await rig.finish(elsewhere).result == .signedIn)
        #expect(try await rig.finish(elsewhere).result == .rejected)
        #expect(try await rig.profiles(call).count == 1)
    }

    @Test("clients #82: when the MVPD's answer is answered, another copy knows the profile, by its MVPD and by its code", arguments: Backend.allCases)
    func knownToAllCopies(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let other = rig.copy()
        let call = rig.v2Call(try await rig.bearer("old"))
        let code = try #require(try await rig.plan(call).code?.code)
        #expect(try await rig.profiles(call, at: "DemoCable", by: other).isEmpty)
        #expect(try await rig.profiles(byCode: code, call.accessToken, by: other).isEmpty)
        let browser = try await rig.start(planned: code)
        rig.saml.accept()
        #expect(try await rig.finish(browser).result == .signedIn)
        #expect(try await rig.profiles(call, at: "DemoCable", by: other).count == 1)
        #expect(try await rig.profiles(byCode: code, call.accessToken, by: other).count == 1)
    }

    @Test("clients #90: a sign-in and a logout of an application may end at a host of its own, exactly and over HTTPS; nobody else's may")
    func ownHosts() async throws {
        let rig = try Rig()
        let end = "https://console.example/interactive/"
        let call = rig.v2Call(try await rig.bearer("old"))
        await expectFault(.invalidRedirectURL) { _ = try await rig.plan(call, redirect: end) }
        Self.list(["console.example"], rig)
        for foreign in [
            "http://console.example/", "https://www.console.example/", "https://console.example.evil.example/",
            "https://console.example@evil.example/",
            "https://other.example/",
        ] {
            await expectFault(.invalidRedirectURL) { _ = try await rig.plan(call, redirect: foreign) }
        }
        let formers = try await rig.code(rig.call(rig.bearer())).code
        await expectFault(.invalidRedirectURL) { _ = try await rig.start(formers, redirect: end) }

        rig.saml.accept()
        let code = try #require(try await rig.plan(call, redirect: end).code?.code)
        #expect(try await rig.finish(rig.start(planned: code)).redirectURL == end)
        let logout = EndProfileRequest(call: call, mvpd: "DemoCable", redirectURL: end)
        #expect(try await rig.service.endProfile(logout, context: rig.context).end == .complete)

        // Taken away while a person signs in: the requestor's own address.
        let last = try #require(try await rig.plan(call, redirect: end).code?.code)
        let browser = try await rig.start(planned: last)
        Self.list([], rig)
        rig.saml.accept(assertion: "_assertion-2")
        #expect(try await rig.finish(browser).redirectURL == "https://chan7.example/welcome")
    }

    private static func list(_ hosts: [String], _ rig: Rig) {
        rig.catalogue.change { configuration in
            for index in configuration.applications.indices where configuration.applications[index].id == "old" {
                configuration.applications[index].redirectHosts = hosts
            }
        }
    }

    @Test("a device begins a sign-in as often as it likes: each new code takes the place of the one before")
    func manyPlans() async throws {
        let rig = try Rig()
        let call = rig.v2Call(try await rig.bearer("old"))
        for _ in 0..<250 {
            rig.clock.advance(by: .seconds(1))
            #expect(try await rig.plan(call).code != nil)
        }
        for _ in 0..<99 { _ = try await rig.code(rig.call(rig.bearer(), device: "dev-7f3a")) }
        await expectFault(.tooManyRequests) { _ = try await rig.code(rig.call(rig.bearer(), device: "dev-7f3a")) }
    }
}
