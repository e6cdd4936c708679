import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct TempPassTests {
    @Test("rest-v1 #86: freepreview makes a session of a TempPass, and of no other MVPD", arguments: Backend.allCases)
    func starts(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let session = try await rig.preview(call)
        #expect(session.kind == .tempPass && session.mvpd == "Preview10")
        #expect(try await rig.session(call) == session)
        #expect(session.userID.count == 49 && session.userID.hasPrefix("temppass_"))
        #expect(try await rig.play("NEWS", call).expiresAtMilliseconds == session.expiresAtMilliseconds)
        await expectFault(.invalidRequest) { try await rig.preview(call, mvpd: "DemoCable") }
        await expectFault(.unknownIntegration) { try await rig.preview(call, mvpd: "ParkedTV") }
        await expectFault(.unknownIntegration) { try await rig.preview(call, mvpd: "Nobody") }
        await expectFault(.invalidRequest) { try await rig.preview(call, mvpd: "") }
        await expectFault(.invalidRequest) { try await rig.preview(call, domain: "") }
        await expectFault(.invalidDomain) { try await rig.preview(call, domain: "chan8.example") }
        await expectFault(.invalidDeviceID) { try await rig.preview(rig.call(call.accessToken, device: "")) }
        await expectFault(.accessDenied) { try await rig.preview(rig.call("")) }
    }

    @Test("rest-v1 #87: the clock starts with the first play and runs whatever is watched", arguments: Backend.allCases)
    func runsOut(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.preview(call)
        rig.clock.advance(by: .seconds(300))
        let end = rig.clock.now() + .seconds(600)
        #expect(try await rig.play("NEWS", call) == TempPassBalance(expiresAtMilliseconds: UInt64(end.milliseconds)))
        #expect(try await rig.session(call).expiresAtMilliseconds == UInt64(end.milliseconds))
        rig.clock.advance(by: .seconds(599))
        #expect(try await rig.play("SPORT", call).expiresAtMilliseconds == UInt64(end.milliseconds))
        let session = try await rig.session(call)
        rig.clock.advance(by: .seconds(1))
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(call) }
        let late = SpendTempPassRequest(sessionID: session.id, deviceID: call.deviceID, requestor: "CHAN7", resource: "NEWS")
        await expectFault(.authenticationSessionExpired) { _ = try await rig.sessions.spendTempPass(late, context: rig.context) }
        await expectFault(.invalidRequest) { try await rig.preview(call) }
    }

    @Test("A preview that is not watched costs no time")
    func waits() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        for _ in 0..<3 {
            let end = rig.clock.now() + .seconds(600)
            #expect(try await rig.preview(call).expiresAtMilliseconds == UInt64(end.milliseconds))
            rig.clock.advance(by: .seconds(600))
            await expectFault(.authenticationSessionExpired) { _ = try await rig.session(call) }
        }
    }

    @Test("rest-v1 #88: logout and a new preview give the remaining time, whoever asks for it", arguments: Backend.allCases)
    func goesOnAfterLogout(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.preview(call)
        try await rig.play("NEWS", call)
        rig.clock.advance(by: .seconds(240))
        #expect(try await rig.logout(call) == 1)
        let other = try await rig.call(rig.bearer())
        #expect(try await rig.preview(other).expiresAtMilliseconds == UInt64((t0 + .seconds(600)).milliseconds))
        // A sign-in between the two changes nothing either.
        try await rig.signIn(call)
        #expect(try await rig.preview(call).expiresAtMilliseconds == UInt64((t0 + .seconds(600)).milliseconds))
        rig.clock.advance(by: .seconds(360))
        _ = try await rig.logout(call)
        await expectFault(.invalidRequest) { try await rig.preview(call) }
    }

    @Test("A trial is of one device at one requestor with one TempPass", arguments: Backend.allCases)
    func isScoped(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let call = rig.call(bearer)
        try await rig.preview(call)
        try await rig.play("NEWS", call)
        rig.clock.advance(by: .seconds(600))
        await expectFault(.invalidRequest) { try await rig.preview(call) }
        try await rig.preview(rig.call(bearer, device: "dev-2"))
        try await rig.preview(rig.call(bearer, requestor: "CHAN8"), domain: "chan8.example")
        try await rig.preview(call, mvpd: "PromoVod", user: "ada")
    }

    @Test("rest-v1 #90: a promotional pass permits so many different resources, and each again", arguments: Backend.allCases)
    func countsResources(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.preview(call, mvpd: "PromoVod", user: "ada")
        #expect(try await rig.facts(call)?.remainingResources == 2)
        #expect(try await rig.play("ONE", call, user: "ada").remainingResources == 1)
        #expect(try await rig.play("TWO", call, user: "ada").remainingResources == 0)
        await expectFault(.authorizationDeniedByMvpd) { try await rig.play("THREE", call, user: "ada") }
        #expect(try await rig.play("ONE", call, user: "ada").remainingResources == 0)
        let end = t0 + .seconds(3600)
        #expect(try await rig.facts(call) == TempPassFacts(expiresAt: end, remainingResources: 0, usedResources: ["ONE", "TWO"]))
        rig.catalogue.change {
            $0.mvpds[5].signIn = .tempPass(.init(kind: .promotional, ttlSeconds: 60, maxResources: 3, userInformationKey: "email"))
        }
        #expect(try await rig.play("THREE", call, user: "ada").remainingResources == 0)
        #expect(try await rig.session(call).expiresAtMilliseconds == UInt64(end.milliseconds))
        rig.catalogue.change {
            $0.mvpds[5].signIn = .tempPass(.init(kind: .promotional, ttlSeconds: 60, maxResources: 1, userInformationKey: "email"))
        }
        #expect(try await rig.facts(call)?.remainingResources == 0)
    }

    @Test("generic_data names users by texts; without one it names nobody")
    func names() throws {
        #expect(try GenericData.users(in: #"{"email":"ada","age":7,"phone":""}"#).map(\.key) == ["email"])
        for text in ["", "[]", #"{"email":""}"#, #"{"age":7}"#, "{}"] {
            #expect(throws: Fault.self, "\(text)") { try GenericData.users(in: text) }
        }
    }

    @Test("a trial's person is known by the trial's user id alone")
    func trialUser() async throws {
        let rig = try Rig()
        try await rig.preview(rig.call(try await rig.bearer()), mvpd: "PromoVod", user: "ada")
        let records = try await rig.store.sessions(SessionKey(device: DeviceID("dev-7f3a"), requestor: RequestorID("CHAN7")))
        #expect(records.map(\.subject.attributes) == records.map { [UserAttribute(key: "userID", values: [$0.userID])] } && records.count == 1)
    }

    @Test("rest-v1 #91: a known user or a known device goes on with the trial; without generic_data nothing starts", arguments: Backend.allCases)
    func knowsUser(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let (first, second, third) = (rig.call(bearer), rig.call(bearer, device: "dev-2"), rig.call(bearer, device: "dev-3"))
        await expectFault(.invalidRequest) { try await rig.preview(first, mvpd: "PromoVod") }
        try await rig.preview(first, mvpd: "PromoVod", user: "ada")
        await expectFault(.invalidRequest) { try await rig.play("ONE", first) }
        try await rig.play("ONE", first, user: "ada")
        rig.clock.advance(by: .seconds(60))
        let end = UInt64((t0 + .seconds(3600)).milliseconds)
        // The user on another device, and another user on the device.
        #expect(try await rig.preview(second, mvpd: "PromoVod", user: "ada").expiresAtMilliseconds == end)
        #expect(try await rig.facts(second)?.usedResources == ["ONE"])
        #expect(try await rig.play("TWO", second, user: "ada").remainingResources == 0)
        #expect(try await rig.preview(first, mvpd: "PromoVod", user: "ben").expiresAtMilliseconds == end)
        await expectFault(.authorizationDeniedByMvpd) { try await rig.play("THREE", first, user: "ben") }
        // Ben has not played anything, so on a new device he is new; from then on he is known.
        #expect(try await rig.preview(third, mvpd: "PromoVod", user: "ben").expiresAtMilliseconds > end)
        #expect(try await rig.play("THREE", third, user: "ben").remainingResources == 1)
        // A known user comes before a known device.
        #expect(try await rig.preview(first, mvpd: "PromoVod", user: "ben").expiresAtMilliseconds > end)
        #expect(try await rig.facts(first)?.usedResources == ["THREE"])
    }

    @Test("An account's address and its digest are the same user")
    func hashesUser() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer()
        let (first, second) = (rig.call(bearer), rig.call(bearer, device: "dev-2"))
        try await rig.preview(first, mvpd: "PromoVod", user: "ada@acme.example")
        try await rig.play("ONE", first, user: "ada@acme.example")
        try await rig.preview(second, mvpd: "PromoVod", user: TrialUser(identifier: "ada@acme.example").text)
        #expect(try await rig.facts(second)?.usedResources == ["ONE"])
    }

    @Test("50 plays of the last resource at once: one wins", arguments: Backend.allCases)
    func spendsOnce(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.preview(call, mvpd: "PromoVod", user: "ada")
        try await rig.play("ONE", call, user: "ada")
        let permits = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask { (try? await rig.play("R\(number)", call, user: "ada")) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(permits == 1)
        #expect(try await rig.facts(call)?.usedResources?.count == 2)
    }

    @Test("Many devices of a new user that play at once share one trial", arguments: Backend.allCases)
    func beginsOnce(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let calls = (0..<20).map { rig.call(bearer, device: "dev-\($0)") }
        for call in calls { try await rig.preview(call, mvpd: "PromoVod", user: "ada") }
        let permits = await withTaskGroup(of: Bool.self) { group in
            for (number, call) in calls.enumerated() {
                group.addTask { (try? await rig.play("R\(number)", call, user: "ada")) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(permits == 2)
        #expect(try await reset(rig, .key("ada")) == 1)
    }

    @Test("rest-v1 §3.7: authenticate with a TempPass makes the session at once and uses up the code", arguments: Backend.allCases)
    func startsByCode(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.code(call)
        var request = Rig.startRequest(code.code, mvpd: "PromoVod")
        await expectFault(.invalidRequest) { _ = try await rig.start(request) }
        request.genericData = #"("email":"ada")"#
        #expect(try await rig.start(request).start == SignInStart(url: "https://chan7.example/done"))
        #expect(try await rig.session(byCode: code.code).mvpd == "PromoVod")
        await expectFault(.registrationCodeSpent) { _ = try await rig.start(request) }
        rig.clock.advance(by: .seconds(1))
        try await rig.play("ONE", call, user: "ada")
        rig.clock.advance(by: .seconds(3600))
        request.registrationCode = try await rig.code(call).code
        await expectFault(.invalidRequest) { _ = try await rig.start(request) }
        #expect(rig.saml.requests.isEmpty)
    }

    @Test("A play is counted for the session that it names, and for no other")
    func checksSession() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        try await rig.preview(call)
        func play(_ change: (inout SpendTempPassRequest) -> Void) async throws {
            var request = SpendTempPassRequest(
                sessionID: try await rig.session(call).id, deviceID: call.deviceID, requestor: "CHAN7", resource: "NEWS")
            change(&request)
            _ = try await rig.sessions.spendTempPass(request, context: rig.context)
        }
        await expectFault(.authenticationSessionMissing) { try await play { $0.sessionID = "another" } }
        await expectFault(.authenticationSessionMissing) { try await play { $0.deviceID = "dev-2" } }
        await expectFault(.authenticationSessionMissing) { try await play { $0.requestor = "CHAN8" } }
        await expectFault(.missingResource) { try await play { $0.resource = "" } }
        try await play { _ in }
        try await rig.signIn(call)
        await expectFault(.authenticationSessionMissing) { try await play { _ in } }
        #expect(try await rig.facts(call) == nil)
    }

    // MARK: Reset

    @Test("rest-v1 #89: after a reset for the device the trial is whole again", arguments: Backend.allCases)
    func resetsDevice(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        let (first, second) = (rig.call(bearer), rig.call(bearer, device: "dev-2"))
        for call in [first, second] {
            try await rig.preview(call)
            try await rig.play("NEWS", call)
        }
        rig.clock.advance(by: .seconds(600))
        #expect(try await reset(rig, .deviceID("dev-7f3a"), mvpd: "Preview10") == 1)
        #expect(try await reset(rig, .deviceID("dev-7f3a"), mvpd: "Preview10") == 0)
        #expect(try await rig.preview(first).expiresAtMilliseconds == UInt64((t0 + .seconds(1200)).milliseconds))
        await expectFault(.invalidRequest) { try await rig.preview(second) }
        #expect(try await reset(rig, nil, mvpd: "Preview10") == 1)
        try await rig.preview(second)
    }

    @Test("A session goes on after a reset, and its next play begins a new trial", arguments: Backend.allCases)
    func goesOnAfterReset(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.preview(call, mvpd: "PromoVod", user: "ada")
        try await rig.play("ONE", call, user: "ada")
        rig.clock.advance(by: .seconds(60))
        #expect(try await reset(rig, .key("ada")) == 1)
        #expect(try await rig.facts(call)?.remainingResources == 2)
        let balance = try await rig.play("TWO", call, user: "ada")
        #expect(balance == TempPassBalance(expiresAtMilliseconds: UInt64((t0 + .seconds(3660)).milliseconds), remainingResources: 1))
        #expect(try await rig.facts(call)?.usedResources == ["TWO"])
    }

    @Test("A reset reaches only its target: a device, every device, a user, every user", arguments: Backend.allCases)
    func resetsScopes(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let bearer = try await rig.bearer()
        func begin() async throws {
            for (number, user) in ["ada", "ben", "ada"].enumerated() {
                let call = rig.call(bearer, device: "dev-\(number)")
                try await rig.preview(call, mvpd: "PromoVod", user: user)
                try await rig.play("ONE", call, user: user)
            }
            let basic = rig.call(bearer)
            try await rig.preview(basic)
            try await rig.play("ONE", basic)
        }
        try await begin()
        #expect(try await reset(rig, .deviceID("dev-2")) == 1)
        #expect(try await reset(rig, .key(TrialUser(identifier: "ada").text)) == 0)
        try await begin()
        #expect(try await reset(rig, .deviceID("all")) == 2)
        try await begin()
        #expect(try await reset(rig, .key("all")) == 2)
        try await begin()
        #expect(try await reset(rig, .key("")) == 2)
        #expect(try await reset(rig, .key("all"), mvpd: "Preview10") == 0)
        #expect(try await reset(rig, .deviceID(""), mvpd: "Preview10") == 1)
    }

    @Test("rest-v1 §3.22, dashboard #34: a reset needs the scope and a channel of the application")
    func checksResetter() async throws {
        let rig = try Rig()
        let bearer = try await rig.bearer("ops")
        func reset(
            _ bearer: String, requestor: String = "CHAN7", mvpd: String = "Preview10", scope: ResetTempPassRequest.Scope? = nil
        ) async throws {
            let request = ResetTempPassRequest(accessToken: bearer, requestor: requestor, mvpd: mvpd, scope: scope)
            _ = try await rig.service.resetTempPass(request, context: rig.context)
        }
        try await reset(bearer)
        await expectFault(.accessDenied) { try await reset("") }
        await expectFault(.accessDenied) { try await reset("broken") }
        await expectFault(.insufficientScope) { try await reset(rig.bearer()) }
        await expectFault(.insufficientScope) { try await reset(bearer, requestor: "FOREIGN") }
        await expectFault(.invalidRequestor) { try await reset(bearer, requestor: "NOBODY") }
        await expectFault(.invalidRequestor) { try await reset(bearer, requestor: "") }
        await expectFault(.invalidRequest) { try await reset(bearer, mvpd: "") }
        await expectFault(.invalidRequest) { try await reset(bearer, mvpd: "DemoCable") }
        await expectFault(.unknownIntegration) { try await reset(bearer, mvpd: "Nobody") }
        await expectFault(.invalidDeviceID) { try await reset(bearer, scope: .deviceID("dummy")) }
        // The scope permits no other call.
        await expectFault(.insufficientScope) { _ = try await rig.session(rig.call(bearer)) }
    }

    private func reset(_ rig: Rig, _ scope: ResetTempPassRequest.Scope?, mvpd: String = "PromoVod") async throws -> UInt32 {
        let request = ResetTempPassRequest(requestor: "CHAN7", mvpd: mvpd, scope: scope)
        return try await rig.operations.resetTempPass(request, context: rig.context).trials
    }
}
