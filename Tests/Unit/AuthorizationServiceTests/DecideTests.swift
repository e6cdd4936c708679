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
