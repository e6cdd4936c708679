import AuthorizationService
import ContractRuntime
import Contracts
import Doubles
import Faults
import Testing

/// The numbers by which operators watch decisions (Shared/Documents/Operations/Monitoring.md).
@Suite struct DecisionMetricsTests {
    private func refused(_ fixture: AuthorizationFixture, _ resource: String) async -> Fault.Code? {
        await fault { try await fixture.authorize(resource) }?.code
    }

    @Test("each decision about a play is counted once, by its result and by who made it; those of an MVPD also by its id")
    func countsDecisions() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        func told() -> [String: Int] { fixture.counts("decisions_total") }
        var expected: [String: Int] = [:]
        func expect(_ result: String, _ source: String, _ location: SourceLocation = #_sourceLocation) {
            expected[#"{result="\#(result)",source="\#(source)"}"#, default: 0] += 1
            #expect(told() == expected, sourceLocation: location)
        }
        _ = try await fixture.authorize("A")
        expect("permit", "mvpd")
        _ = try await fixture.authorize("A")
        expect("permit", "cache")
        fixture.transport.answer(Xacml.deny())
        for _ in 0..<5 {
            #expect(await refused(fixture, "B") == .authorizationDeniedByMvpd)
            expect("deny", "mvpd")
        }
        #expect(await refused(fixture, "B") == .authorizationDeniedByMvpd)
        expect("deny", "cut_off")
        fixture.transport.fail(.responseTimeout)
        #expect(await refused(fixture, "C") == .networkConnectionTimeout)
        expect("error", "mvpd")
        #expect(
            fixture.counts("mvpd_decisions_total") == [
                #"{mvpd="DemoCable",result="good"}"#: 6, #"{mvpd="DemoCable",result="bad"}"#: 1,
            ])
        #expect(fixture.counts("decision_point_seconds_count") == ["": 7])
        fixture.degrade(.authzNone)
        #expect(await refused(fixture, "D") == .authorizationDeniedByDegradationRule)
        expect("deny", "degradation")
        fixture.catalogue.change { $0.degradationRules = [] }
        fixture.degrade(.authzAll)
        _ = try await fixture.authorize("D")
        expect("permit", "degradation")
        fixture.catalogue.change { $0.degradationRules = [] }
        fixture.signIn(session: "session-2", mvpd: "OpenTel")
        _ = try await fixture.authorize("E")
        expect("permit", "dummy")
    }

    @Test("decisions of a trial are counted as the trial's, whatever the answer")
    func countsTrials() async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].signIn = .tempPass(TempPass(kind: .basic, ttlSeconds: 600)) }
        fixture.signIn(kind: .tempPass)
        let end = UInt64(fixture.clock.now().milliseconds + 600_000)
        fixture.sessions.spendTempPass.answer(with: TempPassBalance(expiresAtMilliseconds: end))
        for _ in 0..<2 { _ = try await fixture.authorize() }
        fixture.sessions.spendTempPass.fail(with: Fault(.authorizationDeniedByMvpd, "User not authorized"))
        #expect(await refused(fixture, "A") == .authorizationDeniedByMvpd)
        #expect(
            fixture.counts("decisions_total") == [
                #"{result="permit",source="temp_pass"}"#: 2, #"{result="deny",source="temp_pass"}"#: 1,
            ])
        #expect(fixture.counts("mvpd_decisions_total").isEmpty)
    }

    @Test("bridge §14.1: decisions of an upstream count as its MVPDs', under its name; one that a permit stands in for is none")
    func countsUpstreams() async throws {
        let fixture = try AuthorizationFixture { catalogue in
            catalogue.upstreams = [BridgeUpstream(id: "vendor", baseURL: "https://up.example")]
            catalogue.requestors[0].bridge = RequestorBridge(upstreamID: "vendor", serviceProvider: "SEVEN")
            catalogue.integrations[0].bridge = IntegrationBridge()
        }
        var subject = fixture.subject()
        subject.bridge = BridgedSession(upstream: "vendor", serviceProvider: "SEVEN", mvpd: "DemoCable")
        fixture.table.put(subject, device: "dev-1", requestor: "CHAN7")
        let end = UInt64(fixture.clock.now().milliseconds + 3_600_000)
        fixture.sessions.askUpstream.answer { request, _ in
            UpstreamDecisions(decisions: [
                UpstreamDecision(
                    resource: request.resources[0], isPermitted: true, source: "mvpd", mediaToken: "token", mediaTokenExpiresAtMilliseconds: end)
            ])
        }
        _ = try await fixture.authorize("A")
        fixture.sessions.askUpstream.answer { _, _ in throw Fault(.upstreamUnavailable, "away") }
        #expect(await refused(fixture, "B") == .upstreamUnavailable)
        fixture.clock.advance(by: .seconds(61))
        _ = try await fixture.authorize("A")
        fixture.sessions.askUpstream.answer { request, _ in
            UpstreamDecisions(decisions: [UpstreamDecision(resource: request.resources[0], code: "authorization_denied_by_mvpd")])
        }
        #expect(await refused(fixture, "A") == .authorizationDeniedByMvpd)
        #expect(
            fixture.counts("decisions_total") == [
                #"{result="permit",source="mvpd"}"#: 1, #"{result="error",source="mvpd"}"#: 1, #"{result="permit",source="cache"}"#: 1,
                #"{result="deny",source="mvpd"}"#: 1,
            ])
        #expect(
            fixture.counts("mvpd_decisions_total") == [
                #"{mvpd="upstream vendor",result="good"}"#: 2, #"{mvpd="upstream vendor",result="bad"}"#: 1,
            ])
    }

    @Test("a preauthorization counts as full when each resource has a decision, else as partial; media tokens are counted as they are issued")
    func countsTheRest() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.response(of: [Xacml.result("Permit", resource: "A"), Xacml.result("Deny", resource: "B")]))
        _ = try await fixture.preauthorize("A,B")
        #expect(fixture.counts("preauthorizations_total") == [#"{result="full"}"#: 1])
        #expect(try await fixture.preauthorize("A,B,C").isPartial)
        #expect(fixture.counts("preauthorizations_total") == [#"{result="full"}"#: 1, #"{result="partial"}"#: 1])
        #expect(fixture.counts("media_tokens_total").isEmpty && fixture.counts("decisions_total").isEmpty)
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        _ = try await fixture.authorize("A")
        _ = try await fixture.mediaToken("A")
        #expect(fixture.counts("media_tokens_total") == ["": 1])
        var call = fixture.call()
        call.api = .v2
        _ = try await fixture.service.decide(DecideRequest(call: call, mvpd: "DemoCable", resources: ["A"]), context: CallContext())
        #expect(fixture.counts("media_tokens_total") == ["": 2])
    }
}
