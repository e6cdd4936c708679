import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct SessionTests {
    @Test("rest-v1 #47, #48: none before the sign-in, expired for a day, then none", arguments: Backend.allCases)
    func remembersExpiry(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        rig.catalogue.change { $0.integrations[0].authnTtlSeconds = 3600 }
        let call = try await rig.call(rig.bearer())
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        try await rig.signIn(call)
        rig.clock.advance(by: .seconds(3599))
        _ = try await rig.session(call)
        rig.clock.advance(by: .seconds(1))
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(call) }
        rig.clock.advance(by: .seconds(86_399))
        let fresh = try await rig.call(rig.bearer())
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(fresh) }
        rig.clock.advance(by: .seconds(1))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(fresh) }
    }

    @Test("rest-v1 #47: the code of a session that has expired shows none")
    func hidesExpiredByCode() async throws {
        let rig = try Rig()
        rig.catalogue.change { $0.integrations[0].authnTtlSeconds = 60 }
        let code = try await rig.signIn(rig.call(rig.bearer()))
        #expect(try await rig.session(byCode: code.code.lowercased()).mvpd == "DemoCable")
        await expectFault(.invalidRegistrationCode) { _ = try await rig.session(byCode: code.code, requestor: "CHAN8") }
        await expectFault(.invalidRegistrationCode) { _ = try await rig.session(byCode: "ZZZZZZZ") }
        await expectFault(.invalidRequestor) { _ = try await rig.session(byCode: code.code, requestor: "") }
        rig.clock.advance(by: .seconds(60))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: code.code) }
    }

    @Test("rest-v1 #49: a second MVPD on the same device takes the place of the first", arguments: Backend.allCases)
    func replacesSession(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let firstCode = try await rig.signIn(call)
        let first = try await rig.session(call)
        let secondCode = try await rig.signIn(call, mvpd: "OtherCable", assertion: "_assertion-2")
        let second = try await rig.session(call)
        #expect(second.mvpd == "OtherCable" && second.id != first.id)
        #expect(try await rig.session(byCode: secondCode.code) == second)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: firstCode.code) }
    }

    @Test("rest-v1 #50: the same device at another requestor, or another device")
    func isScoped() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        try await rig.signIn(rig.call(bearer))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(rig.call(bearer, requestor: "CHAN8")) }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(rig.call(bearer, device: "DEV-7F3A")) }
    }

    @Test("rest-v1 #51: an integration that is switched off hides the session, but not from authorization", arguments: Backend.allCases)
    func hidesDisabled(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.signIn(call)
        rig.catalogue.change { $0.integrations[0].enabled = false }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: code.code) }
        #expect(try await find(rig, call).session?.mvpd == "DemoCable")
        rig.catalogue.change { $0.integrations[0].enabled = true }
        #expect(try await rig.session(call).mvpd == "DemoCable")
    }

    @Test("rest-v1 #105: appId and deviceUser of the code are compared when they are sent", arguments: Backend.allCases)
    func comparesClaims(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        var call = try await rig.call(rig.bearer(), appID: "app-1")
        call.deviceUser = "user-1"
        try await rig.signIn(call)
        for (app, user) in [("app-1", "user-1"), ("", ""), ("app-1", "")] {
            (call.appID, call.deviceUser) = (app, user)
            #expect(try await rig.session(call).mvpd == "DemoCable")
        }
        for (app, user) in [("app-2", ""), ("", "user-2"), ("app-1", "user-2")] {
            (call.appID, call.deviceUser) = (app, user)
            await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        }
    }

    @Test("clients #32: an appId that the code had not is not compared, at look-up and logout", arguments: Backend.allCases)
    func newApplicationID(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        try await rig.signIn(rig.call(bearer))
        #expect(try await rig.session(rig.call(bearer, appID: "RSN App")).mvpd == "DemoCable")
        #expect(try await rig.logout(rig.call(bearer, appID: "RSN App")) == 1)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(rig.call(bearer)) }
    }

    @Test("rest-v1 #48, #85: logout ends the requestor's session only, and twice is as good as once", arguments: Backend.allCases)
    func logsOut(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        try await rig.signIn(rig.call(bearer))
        try await rig.signIn(rig.call(bearer, requestor: "CHAN8"), assertion: "_assertion-2")
        #expect(try await rig.logout(rig.call(bearer)) == 1)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(rig.call(bearer)) }
        await expectFault(.authenticationSessionMissing) { _ = try await find(rig, rig.call(bearer)) }
        #expect(try await rig.session(rig.call(bearer, requestor: "CHAN8")).requestor == "CHAN8")
        #expect(try await rig.logout(rig.call(bearer)) == 0)
    }

    @Test("After logout a session is missing, never expired")
    func forgetsAfterLogout() async throws {
        let rig = try Rig(.sqlite)
        rig.catalogue.change { $0.integrations[0].authnTtlSeconds = 60 }
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        _ = try await rig.logout(call)
        rig.clock.advance(by: .seconds(60))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test("rest-v1 #106: logout without a requestor ends the session at every requestor of the application", arguments: Backend.allCases)
    func logsOutEverywhere(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let foreign = try await rig.call(rig.bearer("foreign"), requestor: "FOREIGN")
        try await rig.signIn(rig.call(bearer))
        try await rig.signIn(rig.call(bearer, requestor: "CHAN8"), assertion: "_assertion-2")
        try await rig.signIn(foreign, assertion: "_assertion-3")
        #expect(try await rig.logout(rig.call(bearer, requestor: "")) == 2)
        for requestor in ["CHAN7", "CHAN8"] {
            await expectFault(.authenticationSessionMissing) { _ = try await rig.session(rig.call(bearer, requestor: requestor)) }
        }
        #expect(try await rig.session(foreign).requestor == "FOREIGN")
    }

    @Test("rest-v1 §2.8: a session is shown only with a good bearer, requestor and device")
    func checksCaller() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        await expectFault(.accessDenied) { _ = try await rig.session(rig.call("")) }
        await expectFault(.accessDenied) { _ = try await find(rig, rig.call("broken")) }
        await expectFault(.insufficientScope) { _ = try await rig.session(rig.call(call.accessToken, requestor: "FOREIGN")) }
        #expect(try await rig.session(rig.call(call.accessToken, requestor: "")).requestor == "CHAN7", "any of the application's (clients §1.6)")
        await expectFault(.invalidRequestor) { _ = try await find(rig, rig.call(call.accessToken, requestor: "")) }
        await expectFault(.invalidDeviceID) { _ = try await rig.session(rig.call(call.accessToken, device: "")) }
        var nameless = call
        nameless.device = nil
        #expect(try await rig.session(nameless).requestor == "CHAN7", "what no client sends is not demanded (clients §1.1)")
        await expectFault(.accessDenied) { _ = try await rig.service.getSession(SessionRequest(), context: rig.context) }
    }

    @Test("Services that decide learn the upstream identity and the enabled metadata", arguments: Backend.allCases)
    func tellsSubject(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        let subject = try await find(rig, call)
        #expect(subject.upstreamUserID == "user-42")
        #expect(subject.session == (try await rig.session(call)))
        #expect(subject.attributes == [UserAttribute(key: "householdID", values: ["house-1"])])
        #expect(!subject.clientID.isEmpty)
        #expect(subject.session?.kind == .regular && subject.deviceID == "dev-7f3a" && subject.device == Sample.toldDevice)
    }

    @Test("rest-v1 §3.17: a code leads to the subject of its session, and to none but its own", arguments: Backend.allCases)
    func tellsSubjectByCode(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let unused = try await rig.code(call)
        let code = try await rig.signIn(call)
        func find(_ code: String, bearer: String = "") async throws -> SessionSubject {
            try await rig.sessions.findSessionByCode(.init(accessToken: bearer, requestor: "CHAN7", code: code), context: rig.context)
        }
        #expect(try await find(code.code, bearer: call.accessToken) == (try await self.find(rig, call)))
        #expect(try await find(code.code.lowercased()).deviceID == "dev-7f3a")
        await expectFault(.authenticationSessionMissing) { _ = try await find(unused.code) }
        await expectFault(.invalidRegistrationCode) { _ = try await find("ZZZZZZZ") }
        await expectFault(.accessDenied) { _ = try await find(code.code, bearer: "broken") }
    }

    @Test("A proxied MVPD is named beside its proxy")
    func namesProxy() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        rig.catalogue.change { configuration in
            configuration.mvpds[0].isProxied = true
            configuration.mvpds[0].proxyMvpdID = "OtherCable"
        }
        let session = try await rig.session(call)
        #expect(session.mvpd == "DemoCable" && session.proxyMvpd == "OtherCable")
    }

    @Test("The metadata document is for the service provider or for one requestor")
    func servesMetadata() async throws {
        let rig = try Rig()
        func document(_ requestor: String) async throws -> String {
            try await rig.service.getServiceProviderMetadata(.init(requestor: requestor), context: rig.context).document
        }
        #expect(try await document("") == "metadata of all")
        #expect(try await document("CHAN7") == "metadata of CHAN7")
        await expectFault(.invalidRequestor) { _ = try await document("NOBODY") }
    }

    private func find(_ rig: Rig, _ call: DeviceCall) async throws -> SessionSubject {
        try await rig.sessions.findSession(SessionRequest(call: call), context: rig.context)
    }
}
