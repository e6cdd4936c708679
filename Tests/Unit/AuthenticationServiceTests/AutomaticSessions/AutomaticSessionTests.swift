import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Sessions out of a login elsewhere (apple §1.4).
struct AutomaticSessionTests {
    @Test("apple §1.4: the device gets a session of the same person at the same MVPD, which every later call sees", arguments: Backend.allCases)
    func startsSession(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        rig.rig.clock.advance(by: .seconds(60))
        let answer = try await rig.start("dev-2", of: [login])
        let session = try #require(answer.session)
        #expect(session.kind == .automatic && session.mvpd == "DemoCable" && session.userID == login.userID && session.requestor == "CHAN7")
        #expect(session.id != login.id && session.createdAtMilliseconds == rig.milliseconds(60))
        #expect(session.expiresAtMilliseconds == login.expiresAtMilliseconds)
        #expect(answer.caller?.deviceID == "dev-2" && answer.caller?.login == nil && answer.caller?.programmerID == "seven")
        #expect(try await rig.session("dev-2") == session)
        #expect(try await rig.session("dev-1") == login)
        let subject = try await rig.rig.sessions.findSession(SessionRequest(call: rig.call("dev-2")), context: rig.rig.context)
        #expect(subject.session == session && subject.upstreamUserID == "ada" && subject.deviceID == "dev-2")
        let identified = try #require(try await rig.identify(rig.call("dev-2")).login)
        #expect(identified.session == session && identified.authenticatedAtMilliseconds == rig.milliseconds(0) && identified.allowsAutoSignIn)
    }

    @Test("apple #73: the session ends with the login behind it", arguments: Backend.allCases)
    func endsWithLogin(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        rig.changeIntegration { $0.authnTtlSeconds = 9000 }
        let login = try await rig.signIn("dev-1")
        rig.rig.clock.advance(by: .seconds(1800))
        #expect(try await rig.started("dev-2", of: login).expiresAtMilliseconds == rig.milliseconds(9000))
        rig.rig.clock.advance(by: .seconds(7199))
        #expect(try await rig.started("dev-3", of: login).expiresAtMilliseconds == rig.milliseconds(9000))
        rig.rig.clock.advance(by: .seconds(1))
        for device in ["dev-1", "dev-2", "dev-3"] {
            await expectFault(.authenticationSessionExpired) { _ = try await rig.session(device) }
        }
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-4", of: [login]) }
        #expect(try await rig.liveLogins(login).isEmpty)
    }

    @Test("apple §1.4: nor later than the own lifetime on the device's platform, counted from the login")
    func endsWithOwnLifetime() async throws {
        let rig = try await AutomaticRig()
        let login = try await rig.signIn("dev-1")
        rig.changeIntegration { $0.platformOverrides = [PlatformOverride(scope: .roku, authnTtlSeconds: 3600)] }
        rig.rig.clock.advance(by: .seconds(600))
        #expect(try await rig.started("dev-2", of: login).expiresAtMilliseconds == rig.milliseconds(3600))
        rig.rig.clock.advance(by: .seconds(3000))
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-3", of: [login]) }
        _ = try await rig.session("dev-1")
    }

    @Test("apple #74: without a login there is no session; after a new one, on any device, there is", arguments: Backend.allCases)
    func needsLogin(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        try await rig.logOut("dev-1")
        #expect(try await rig.liveLogins(login).isEmpty)
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-2", of: [login]) }
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-2", of: []) }
        let renewed = try await rig.signIn("dev-9")
        #expect(renewed.reference == login.reference)
        #expect(try await rig.liveLogins(login) == [login.reference])
        #expect(try await rig.started("dev-2", of: login).userID == login.userID)
    }

    @Test("apple #74: a login counts for its own person, MVPD and requestor")
    func needsThisLogin() async throws {
        let rig = try await AutomaticRig()
        let ada = try await rig.signIn("dev-1")
        let ben = try await rig.signIn("dev-2", user: "ben", mvpd: "OtherCable")
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-3", of: [ada], requestor: "CHAN8") }
        var crossed = ada
        crossed.mvpd = "OtherCable"
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-3", of: [crossed]) }
        #expect(try await rig.liveLogins(ada, crossed, ben) == [ada.reference, ben.reference])
        #expect(try await rig.started("dev-3", of: crossed, ben).userID == ben.userID)
        await expectFault(.invalidRequestor) { _ = try await rig.liveLogins(ada, requestor: "NOBODY") }
    }

    @Test("apple #75: an integration without the flag, or switched off, makes no session", arguments: [true, false])
    func needsFlag(_ isEnabled: Bool) async throws {
        let rig = try await AutomaticRig()
        let login = try await rig.signIn("dev-1")
        _ = try await rig.started("dev-2", of: login)
        rig.changeIntegration {
            $0.enabled = isEnabled
            $0.autoSignIn = !isEnabled
        }
        for device in ["dev-1", "dev-2", "dev-3"] {
            await expectFault(.subscriptionRequired) { _ = try await rig.start(device, of: [login]) }
        }
        #expect(try await rig.liveLogins(login).isEmpty)
        let identified = try await rig.identify(rig.call("dev-1")).login
        #expect(isEnabled ? identified?.allowsAutoSignIn == false : identified == nil)
    }

    @Test("Of several logins the one that lasts longest is behind the session", arguments: Backend.allCases)
    func prefersLongest(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        rig.rig.catalogue.change { $0.integrations[1].authnTtlSeconds = 7200 }
        rig.changeIntegration { $0.authnTtlSeconds = 3600 }
        let first = try await rig.signIn("dev-1")
        rig.rig.clock.advance(by: .seconds(600))
        _ = try await rig.signIn("dev-2")
        #expect(try await rig.started("dev-3", of: first).expiresAtMilliseconds == rig.milliseconds(4200))
        let other = try await rig.signIn("dev-4", mvpd: "OtherCable")
        let session = try await rig.started("dev-5", of: first, other)
        #expect(session.mvpd == "OtherCable" && session.expiresAtMilliseconds == rig.milliseconds(7800))
    }

    @Test("apple #77: a logout on one device leaves the others alone, whichever it is", arguments: Backend.allCases)
    func logoutEndsOneDevice(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        for device in ["dev-2", "dev-3"] { _ = try await rig.started(device, of: login) }
        try await rig.logOut("dev-2")
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session("dev-2") }
        _ = try await rig.session("dev-3")
        #expect(try await rig.session("dev-1") == login)
        try await rig.logOut("dev-1")
        #expect(try await rig.session("dev-3").kind == .automatic)
    }

    @Test("apple §1.4: the MVPD's own logout ends the sessions made from the login", arguments: Backend.allCases)
    func mvpdEndsAll(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let (ada, ben) = (try await rig.signIn("dev-1"), try await rig.signIn("dev-4", user: "ben"))
        for device in ["dev-2", "dev-3"] { _ = try await rig.started(device, of: ada) }
        _ = try await rig.started("dev-5", of: ben)
        try await rig.logOut("dev-1")
        try await rig.mvpdLogsOut()
        for device in ["dev-2", "dev-3"] { await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device) } }
        #expect(try await rig.session("dev-5").userID == ben.userID)
    }

    @Test("Nothing is made from a session that was itself made so", arguments: Backend.allCases)
    func isNoSource(_ backend: Backend) async throws {
        let rig = try await AutomaticRig(backend)
        let login = try await rig.signIn("dev-1")
        let session = try await rig.started("dev-2", of: login)
        try await rig.logOut("dev-1")
        #expect(try await rig.session("dev-2") == session)
        #expect(try await rig.liveLogins(session).isEmpty)
        for device in ["dev-2", "dev-3"] { await expectFault(.subscriptionRequired) { _ = try await rig.start(device, of: [session]) } }
    }

    @Test("rest-v1 §4.9: nor does another requestor take it over by the platform's identity")
    func isNotShared() async throws {
        let rig = try await IdentityRig()
        rig.rig.catalogue.change { $0.integrations[0].autoSignIn = true }
        try await rig.rig.signIn(rig.rig.call(rig.bearer, device: "dev-1"))
        let login = try await rig.rig.session(rig.rig.call(rig.bearer, device: "dev-1"))
        let request = StartAutomaticSessionRequest(call: try rig.call(device: "dev-2", requestor: "CHAN7"), logins: [login.reference])
        _ = try await rig.rig.logins.startAutomaticSession(request, context: rig.rig.context)
        #expect(try await rig.session(device: "dev-2", requestor: "CHAN7").kind == .automatic)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8") }
    }

    @Test("apple #76: a trial or a degraded session is reported as such, and does not count as a login")
    func tellsKinds() async throws {
        let rig = try await AutomaticRig()
        let trial = try await rig.rig.preview(rig.call("dev-1"))
        #expect(try await rig.identify(rig.call("dev-1")).login?.session?.kind == .tempPass)
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-2", of: [trial]) }
        rig.rig.degrade(.authnAll)
        let code = try await rig.rig.code(rig.call("dev-3"))
        _ = try await rig.rig.start(code.code)
        let degraded = try #require(try await rig.identify(rig.call("dev-3")).login?.session)
        #expect(degraded.kind == .degraded)
        await expectFault(.subscriptionRequired) { _ = try await rig.start("dev-2", of: [degraded]) }
    }
}
