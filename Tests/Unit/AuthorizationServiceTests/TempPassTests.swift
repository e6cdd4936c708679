import Clocks
import ContractRuntime
import Contracts
import Doubles
import Faults
import Testing

/// TempPass in decisions (rest-v1 §6.2); authentication owns the trial itself.
@Suite struct TempPassTests {
    private func fixture() throws -> AuthorizationFixture {
        let fixture = try AuthorizationFixture { $0.mvpds[0].signIn = .tempPass(TempPass(kind: .basic, ttlSeconds: 600)) }
        fixture.signIn(kind: .tempPass)
        return fixture
    }

    private func grant(_ fixture: AuthorizationFixture, _ span: Duration = .seconds(600)) {
        fixture.sessions.spendTempPass.answer(with: TempPassBalance(expiresAtMilliseconds: UInt64((fixture.clock.now() + span).milliseconds)))
    }

    @Test("rest-v1 #86, #87: any resource is permitted until the trial ends, without an MVPD; media tokens meanwhile")
    func permitsUntilTheEnd() async throws {
        let fixture = try fixture()
        grant(fixture)
        let permit = try await fixture.authorize("anything")
        #expect(permit.expiresAtMilliseconds == UInt64((fixture.clock.now() + .seconds(600)).milliseconds))
        #expect(try await fixture.token("anything") == permit)
        fixture.clock.advance(by: .seconds(540))
        #expect(try await fixture.authorize("anything") == permit)
        _ = try await fixture.mediaToken("anything")
        fixture.clock.advance(by: .seconds(120))
        #expect(await fault { try await fixture.mediaToken("anything") }?.code == .authorizationNotFound)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 #90: each authorize tells authentication the resource and generic_data; its refusal is the answer, whatever was permitted before")
    func spendsOnEachAuthorize() async throws {
        let fixture = try fixture()
        grant(fixture)
        let request = AuthorizeRequest(call: fixture.call(), resource: "A", genericData: #"{"email":"0a"}"#)
        _ = try await fixture.service.authorize(request, context: CallContext(idempotencyKey: "k"))
        let spent = try #require(fixture.sessions.spendTempPass.requests.first)
        #expect(
            spent
                == SpendTempPassRequest(
                    sessionID: "session-1", deviceID: "dev-1", requestor: "CHAN7", resource: "A", genericData: #"{"email":"0a"}"#))
        #expect(fixture.sessions.spendTempPass.contexts.first?.idempotencyKey == "k")
        fixture.sessions.spendTempPass.fail(with: Fault(.authorizationDeniedByMvpd, "User not authorized", details: "Used up"))
        let refusal = await fault { try await fixture.authorize("A") }
        #expect(refusal?.code == .authorizationDeniedByMvpd && refusal?.details == "Used up")
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 §2.8: authentication that is away is no exhausted trial")
    func reportsABrokenDependency() async throws {
        let fixture = try fixture()
        fixture.sessions.spendTempPass.fail(with: Fault(.unavailable, "x"))
        #expect(await fault { try await fixture.authorize() }?.code == .unavailable)
        #expect(fixture.store.count == 0)
    }

    @Test("rest-v1 §6.1, §6.2: a rule's permit goes with the rule; the trial's own takes its place, though it ends in the same moment")
    func outlivesARule() async throws {
        let fixture = try fixture()
        grant(fixture)
        fixture.degrade(.authzAll)
        let excused = try await fixture.authorize()
        fixture.catalogue.change { $0.degradationRules = [] }
        #expect(try await fixture.authorize() == excused)
        #expect(try await fixture.token() == excused)
    }

    @Test("mvpd §4.3: a degradation rule comes before the TempPass")
    func rulesComeFirst() async throws {
        let fixture = try fixture()
        grant(fixture)
        fixture.degrade(.authzNone)
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByDegradationRule)
        #expect(fixture.sessions.spendTempPass.requests.isEmpty)
    }
}
