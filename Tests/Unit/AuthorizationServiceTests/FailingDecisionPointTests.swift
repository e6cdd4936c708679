import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Faults
import Testing

/// Decision points that fail, as operators are told of them.
@Suite struct FailingDecisionPointTests {
    private func failing(_ fixture: AuthorizationFixture) async throws -> FailingDecisionPoints {
        try await fixture.service.listFailingDecisionPoints(ListFailingDecisionPointsRequest(), context: CallContext())
    }

    @Test("three questions in a row without a usable answer are told with their times and the latest reason; an answer ends the series")
    func tells() async throws {
        let fixture = try AuthorizationFixture()
        let first = UInt64(fixture.clock.now().milliseconds)
        fixture.transport.fail(.responseTimeout)
        for _ in 0..<2 { _ = await fault { try await fixture.authorize() } }
        #expect(try await failing(fixture).points.isEmpty, "two may be chance")
        fixture.clock.advance(by: .seconds(60))
        fixture.transport.fail(.notSent)
        _ = await fault { try await fixture.authorize() }
        #expect(
            try await failing(fixture)
                == FailingDecisionPoints(points: [
                    FailingDecisionPoint(
                        mvpd: "DemoCable", failures: 3, failingSinceMilliseconds: first, failedAtMilliseconds: first + 60_000,
                        code: "network_received_error")
                ]))
        fixture.transport.answer(Xacml.deny())
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
        #expect(try await failing(fixture).points.isEmpty)
    }

    @Test("a caller that gives up says nothing of the decision point, and a refusal without a question is no further failure")
    func countsQuestionsAlone() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.fail(.cancelled)
        for _ in 0..<5 { _ = await fault { try await fixture.authorize() } }
        #expect(try await failing(fixture).points.isEmpty)
        fixture.transport.fail(.responseTimeout)
        for _ in 0..<25 { _ = await fault { try await fixture.authorize() } }
        let point = try #require(try await failing(fixture).points.first)
        #expect(point.failures == 20 && point.isResting, "the breaker turned five away")
        fixture.clock.advance(by: .seconds(15))
        #expect(try await failing(fixture).points.map(\.isResting) == [false])
    }

    @Test("what was not asked for a day, or is no longer in the catalogue, is not told")
    func forgets() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.fail(.responseTimeout)
        for _ in 0..<3 { _ = await fault { try await fixture.authorize() } }
        fixture.clock.advance(by: .seconds(86_399))
        #expect(try await failing(fixture).points.count == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await failing(fixture).points.isEmpty)
        fixture.signIn()
        for _ in 0..<3 { _ = await fault { try await fixture.authorize() } }
        #expect(try await failing(fixture).points.count == 1)
        fixture.catalogue.change { $0.mvpds.removeAll { $0.id == "DemoCable" } }
        #expect(try await failing(fixture).points.isEmpty)
    }
}
