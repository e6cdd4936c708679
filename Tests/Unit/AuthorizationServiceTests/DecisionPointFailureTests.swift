import AuthorizationService
import Contracts
import Doubles
import Faults
import OutboundHttp
import Testing

/// Retries, the breaker and their faults (mvpd §4.3) with a scripted transport.
@Suite struct DecisionPointFailureTests {
    @Test(
        "mvpd #102: a reset before the answer is repeated exactly once",
        arguments: [OutboundFailure.Kind.resetBeforeAnswer, .notSent, .connectTimeout])
    func repeatsOnce(kind: OutboundFailure.Kind) async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.failOnce(kind)
        _ = try await fixture.authorize()
        #expect(fixture.transport.requestCount == 2)
        fixture.transport.fail(kind)
        #expect(await fault { try await fixture.authorize("other") } != nil)
        #expect(fixture.transport.requestCount == 4)
    }

    @Test(
        "mvpd §4.3: failures and their codes; what may have been sent is not repeated",
        arguments: [
            (OutboundFailure.Kind.connectTimeout, Fault.Code.networkConnectionTimeout, 2), (.responseTimeout, .networkConnectionTimeout, 1),
            (.budgetSpent, .maximumExecutionTimeExceeded, 1), (.unusable, .networkReceivedError, 1), (.notSent, .networkReceivedError, 2),
            (.resetBeforeAnswer, .networkReceivedError, 2), (.cancelled, .cancelled, 1),
        ])
    func mapsFailures(kind: OutboundFailure.Kind, code: Fault.Code, attempts: Int) async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.fail(kind)
        #expect(await fault { try await fixture.authorize() }?.code == code)
        #expect(fixture.transport.requestCount == attempts)
    }

    @Test("mvpd #103: the breaker opens, probes and recovers")
    func breakerOpensAndRecovers() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.fail(.responseTimeout)
        for _ in 0..<20 { #expect(await fault { try await fixture.authorize() }?.code == .networkConnectionTimeout) }
        #expect(await fault { try await fixture.authorize() }?.code == .networkReceivedError)
        #expect(fixture.transport.requestCount == 20)
        fixture.clock.advance(by: .seconds(15))
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        for number in 1...4 { _ = try await fixture.authorize("resource-\(number)") }
        #expect(fixture.transport.requestCount == 24)
    }

    @Test("mvpd #103: denials never open the breaker")
    func denialsDoNotOpenTheBreaker() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.response(Xacml.result("Deny")))
        for number in 0..<60 {
            #expect(await fault { try await fixture.authorize("resource-\(number)") }?.code == .authorizationDeniedByMvpd)
        }
        #expect(fixture.transport.requestCount == 60)
    }

    @Test(
        "mvpd §4.2: a bare answer is believed over TLS or on loopback only",
        arguments: ["http://pdp.cable.example/", "http://127.0.0.1.example/", "ftp://127.0.0.1/", "pdp", ""])
    func refusesClearTextEndpoints(url: String) async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.url = url }
        #expect(await fault { try await fixture.authorize() }?.code == .internal)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("mvpd §4.3: timeouts are 1, 3 and 5 s unless the record says otherwise")
    func takesTimeoutsFromTheRecord() async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.totalTimeoutMilliseconds = 0 }
        _ = try await fixture.authorize()
        let route = try #require(fixture.transport.routes.first)
        #expect(route.connectTimeout == .seconds(1))
        #expect(route.responseTimeout == .seconds(3))
        #expect(try #require(fixture.transport.timesLeft.first) > .seconds(3) && fixture.transport.timesLeft[0] <= .seconds(5))
        fixture.catalogue.change { $0.mvpds[0].authorization?.responseTimeoutMilliseconds = 700 }
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        _ = try await fixture.authorize("other")
        #expect(fixture.transport.routes.last?.responseTimeout == .milliseconds(700))
    }

    @Test("mvpd §4.1: protocols that this version lacks are said to be so")
    func refusesOtherProtocols() async throws {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.protocol = .unrecognized(99) }
        #expect(await fault { try await fixture.authorize() }?.code == .unimplemented)
    }
}
