import Clocks
import ContractRuntime
import Contracts
import Doubles
import Faults
import ManualClocks
import Testing

@Suite struct AuthorizeTests {
    @Test("rest-v1 #60: a permit has an end; a repeat within the TTL is the same and does not ask the MVPD")
    func repeatsAPermitFromTheStore() async throws {
        let fixture = try AuthorizationFixture()
        let first = try await fixture.authorize()
        fixture.clock.advance(by: .seconds(600))
        let second = try await fixture.authorize()
        #expect(first == second)
        #expect(first.expiresAtMilliseconds == UInt64((ManualClock().now() + .seconds(3600)).milliseconds))
        #expect(first.requestor == "CHAN7")
        #expect(first.mvpd == "DemoCable")
        #expect(first.resource == "CHAN7-HD")
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("mvpd #107: a second call within the TTL does not ask the MVPD; logout clears")
    func logoutClearsPermits() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        _ = try await fixture.authorize()
        #expect(fixture.transport.requestCount == 1)
        fixture.table.remove(device: "dev-1", requestor: "CHAN7")
        #expect(await fault { try await fixture.authorize() }?.code == .authenticationSessionMissing)
        fixture.signIn(session: "session-2")
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
        _ = try await fixture.authorize()
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("rest-v1 #60: the MVPD is asked again when the TTL is over")
    func asksAgainAfterTheEnd() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        fixture.clock.advance(by: .seconds(3600))
        _ = try await fixture.authorize()
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("rest-v1 §5: for a day after its end a permit is told from one that never was")
    func remembersExpiredPermits() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        for wait: Duration in [.seconds(3600), .seconds(86_400) - .milliseconds(1)] {
            fixture.clock.advance(by: wait)
            #expect(await fault { try await fixture.token() }?.code == .authorizationExpired)
        }
        fixture.clock.advance(by: .milliseconds(1))
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
    }

    @Test("rest-v1 #61: a denial carries the MVPD's text and leaves no token")
    func denialsCarryTheMvpdsText() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.deny(Xacml.obligation(Xacml.upgrade, (Xacml.message, #""Add the sports package""#))))
        let denial = await fault { try await fixture.authorize() }
        #expect(denial?.code == .authorizationDeniedByMvpd)
        #expect(denial?.details == "Add the sports package")
        #expect(fixture.store.count == 0)
    }

    @Test("rest-v1 #62: without a session nothing is asked")
    func needsASession() async throws {
        let fixture = try AuthorizationFixture()
        #expect(await fault { try await fixture.authorize(device: "dev-2") }?.code == .authenticationSessionMissing)
        #expect(await fault { try await fixture.token(device: "dev-2") }?.code == .authenticationSessionMissing)
        fixture.table.expire(device: "dev-1", requestor: "CHAN7")
        #expect(await fault { try await fixture.authorize() }?.code == .authenticationSessionExpired)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 #10: a refused bearer wins over everything else and reaches no MVPD")
    func theBearerComesFirst() async throws {
        let fixture = try AuthorizationFixture()
        fixture.table.fail(with: Fault(.accessDenied, "The access token is not accepted."))
        #expect(await fault { try await fixture.authorize("") }?.code == .accessDenied)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 §2.8: authentication that is away is a broken dependency, not a missing session")
    func reportsABrokenDependency() async throws {
        let fixture = try AuthorizationFixture()
        fixture.table.fail(with: Fault(.unavailable, "No healthy peer.", retryAfter: .seconds(1)))
        let fault = await fault { try await fixture.authorize() }
        #expect(fault?.code == .unavailable)
        #expect(fault?.retryAfter == .seconds(1))
        fixture.table.fail(with: nil)
        fixture.catalogue.publish(nil)
        #expect(await AuthorizationServiceTests.fault { try await fixture.authorize() }?.code == .unavailable)
    }

    @Test("rest-v1 §2.8: resource, then integration, then session")
    func checksInOrder() async throws {
        let fixture = try AuthorizationFixture()
        #expect(await fault { try await fixture.authorize("", device: "dev-2") }?.code == .missingResource)
        #expect(await fault { try await fixture.authorize("<rss>", device: "dev-2") }?.code == .malformedAuthzRequest)
        #expect(await fault { try await fixture.authorize(device: "dev-2", mvpd: "Elsewhere") }?.code == .unknownIntegration)
        #expect(await fault { try await fixture.authorize(mvpd: "OpenTel") }?.code == .authenticationSessionIssuerMismatch)
        #expect(await fault { try await fixture.authorize(mvpd: "DemoCable") } == nil)
    }

    @Test("rest-v1 #51: an integration switched off after the login")
    func refusesADisabledIntegration() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        fixture.catalogue.change { $0.integrations[0].enabled = false }
        #expect(await fault { try await fixture.authorize() }?.code == .unknownIntegration)
        #expect(await fault { try await fixture.token() }?.code == .authenticationSessionMissing)
        #expect(await fault { try await fixture.mediaToken() }?.code == .authenticationSessionMissing)
    }

    @Test("rest-v1 #66: an MVPD that does not answer in time; nothing is stored")
    func reportsATimeout() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.fail(.responseTimeout)
        let fault = await fault { try await fixture.authorize() }
        #expect(fault?.code == .networkConnectionTimeout)
        #expect(fault?.isRetryable == true)
        #expect(fixture.store.count == 0)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("rest-v1 #67: repetitions of one call count as one denial")
    func countsARepeatedCallOnce() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.deny())
        let request = AuthorizeRequest(call: fixture.call(), resource: "CHAN7-HD")
        for _ in 0..<6 {
            let context = CallContext(idempotencyKey: "one")
            #expect(await fault { try await fixture.service.authorize(request, context: context) }?.code == .authorizationDeniedByMvpd)
        }
        #expect(fixture.transport.requestCount == 6)
    }

    @Test("rest-v1 #67: after five denials in 10 s the sixth is answered without the MVPD, for 10 s")
    func cutsOffRepeatedDenials() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.deny(message: "Not in your package"))
        for _ in 0..<5 {
            #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
            fixture.clock.advance(by: .seconds(1))
        }
        fixture.transport.answer(Xacml.permit())
        let sixth = await fault { try await fixture.authorize() }
        #expect(sixth?.code == .authorizationDeniedByMvpd)
        #expect(sixth?.details == "Not in your package")
        #expect(fixture.transport.requestCount == 5)
        fixture.clock.advance(by: .seconds(10))
        #expect(await fault { try await fixture.authorize() } == nil)
    }

    @Test("mvpd §4.1: authenticated means authorized at an MVPD without a decision point")
    func permitsWithoutADecisionPoint() async throws {
        let fixture = try AuthorizationFixture()
        fixture.signIn(mvpd: "OpenTel")
        let decision = try await fixture.authorize()
        #expect(decision.mvpd == "OpenTel")
        #expect(decision.expiresAtMilliseconds == UInt64((fixture.clock.now() + .seconds(86_400)).milliseconds))
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("rest-v1 #49: after a login with a second MVPD old permits are gone")
    func aSecondMvpdStartsAfresh() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        fixture.signIn(session: "session-1", mvpd: "OpenTel")
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
        #expect(try await fixture.authorize().mvpd == "OpenTel")
    }

    @Test("rest-v1 #65: behind a proxy both MVPDs are named")
    func namesTheProxy() async throws {
        let fixture = try AuthorizationFixture()
        fixture.signIn(proxyMvpd: "BigProxy")
        let decision = try await fixture.authorize()
        #expect(decision.mvpd == "DemoCable")
        #expect(decision.proxyMvpd == "BigProxy")
        #expect(try await fixture.mediaToken().proxyMvpd == "BigProxy")
    }
}
