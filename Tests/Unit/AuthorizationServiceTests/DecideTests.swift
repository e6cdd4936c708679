import AuthorizationService
import ContractRuntime
import Contracts
import Doubles
import Faults
import OutboundHttp
import Testing

/// Decisions as REST v2 asks for them: whatever the MVPD does is an answer for each resource.
@Suite struct DecideTests {
    private func decide(_ fixture: AuthorizationFixture, _ resource: String = "CHAN7-HD") async throws -> ResourceDecision {
        var call = fixture.call()
        call.api = .v2
        let request = DecideRequest(call: call, mvpd: "DemoCable", resources: [resource])
        return try #require(try await fixture.service.decide(request, context: CallContext()).decisions.first)
    }

    private func decideBeforehand(_ fixture: AuthorizationFixture, _ resources: [String]) async throws -> [ResourceDecision] {
        let request = DecideRequest(call: fixture.call(), mvpd: "DemoCable", resources: resources, isPreliminary: true)
        return try await fixture.service.decide(request, context: CallContext()).decisions
    }

    @Test("rest-v2 §2.10: beforehand five are decided together; of six each is refused with the limit, which a TempPass does not know")
    func limit() async throws {
        let fixture = try AuthorizationFixture()
        let resources = ["A", "B", "C", "D", "E"]
        fixture.transport.answer(Xacml.response(of: resources.map { Xacml.result($0 == "C" ? "Deny" : "Permit", resource: $0) }))
        let told = try await decideBeforehand(fixture, resources)
        #expect(told.map(\.authorized) == [true, true, false, true, true])
        #expect(told[2].refusal?.code == Fault.Code.preauthorizationDeniedByMvpd.rawValue)
        let refusal = ResourceRefusal(code: "too_many_resources", details: "At most 5 resources may be asked for at once.")
        #expect(try await decideBeforehand(fixture, resources + ["F"]).map(\.refusal) == Array(repeating: refusal, count: 6))
        #expect(fixture.transport.requestCount == 1)
        fixture.signIn(kind: .tempPass)
        #expect(try await decideBeforehand(fixture, resources + ["F"]).map(\.authorized) == Array(repeating: true, count: 6))
    }

    @Test("where no media token can be signed nobody is asked to play, and decisions beforehand go on")
    func signing() async throws {
        let fixture = try AuthorizationFixture()
        fixture.pool.shutdown()
        #expect(await fault { try await decide(fixture) }?.code == .unavailable)
        #expect(fixture.sessions.findSession.requests.isEmpty && fixture.transport.requestCount == 0)
        #expect(try await decideBeforehand(fixture, ["CHAN7-HD"]).map(\.authorized) == [true])
    }

    @Test("rest-v2 #70: an MVPD that does not answer in time is the resource's refusal")
    func timeout() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.fail(.responseTimeout)
        let decision = try await decide(fixture)
        #expect(!decision.authorized && decision.refusal?.code == Fault.Code.networkConnectionTimeout.rawValue && decision.token == nil)
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        #expect(try await decide(fixture, "CHAN7-SD").token != nil)
    }

    @Test("rest-v2 #113: after five denials within ten seconds the sixth is answered without the MVPD, for this resource alone")
    func denials() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.response(Xacml.result("Deny")))
        for _ in 0..<5 { #expect(try await !decide(fixture).authorized) }
        let asked = fixture.transport.requestCount
        #expect(asked == 5)
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        let sixth = try await decide(fixture)
        #expect(!sixth.authorized && sixth.refusal?.code == Fault.Code.authorizationDeniedByMvpd.rawValue)
        #expect(fixture.transport.requestCount == asked)
        #expect(try await decide(fixture, "CHAN7-SD").authorized)
        fixture.clock.advance(by: .seconds(10))
        #expect(try await decide(fixture).authorized)
    }
}
