import Clocks
import Contracts
import Doubles
import Faults
import Testing

@Suite struct AuthzTokenTests {
    @Test("rest-v1 #63: 404 before authorize, 410 after the end, 404 a day later")
    func distinguishesNoneFromExpired() async throws {
        let fixture = try AuthorizationFixture()
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
        let decision = try await fixture.authorize()
        #expect(try await fixture.token() == decision)
        fixture.clock.advance(by: .seconds(3600))
        #expect(await fault { try await fixture.token() }?.code == .authorizationExpired)
        fixture.clock.advance(by: .seconds(86_399))
        #expect(await fault { try await fixture.token() }?.code == .authorizationExpired)
        fixture.clock.advance(by: .seconds(1))
        #expect(await fault { try await fixture.token() }?.code == .authorizationNotFound)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("rest-v1 §3.15: a missing resource")
    func needsAResource() async throws {
        let fixture = try AuthorizationFixture()
        #expect(await fault { try await fixture.token("") }?.code == .missingResource)
    }

    @Test("mvpd #94: re-authz seconds, then the integration's TTL, then the MVPD's; none fails; never beyond the session")
    func takesTheTTLInOrder() async throws {
        let fixture = try AuthorizationFixture()
        func end(_ resource: String) async throws -> Int64 {
            fixture.transport.answer(Xacml.response(Xacml.result("Permit", resource: resource)))
            return Int64(try await fixture.authorize(resource).expiresAtMilliseconds) - fixture.clock.now().milliseconds
        }
        fixture.transport.answer(Xacml.permit(Xacml.obligation(Xacml.reauthorize, (Xacml.reauthorize, "120"))))
        #expect(Int64(try await fixture.authorize().expiresAtMilliseconds) - fixture.clock.now().milliseconds == 120_000)
        #expect(try await end("a") == 3_600_000)
        fixture.catalogue.change { $0.integrations[0].authzTtlSeconds = 60 }
        #expect(try await end("b") == 60_000)
        fixture.catalogue.change {
            $0.integrations[0].authzTtlSeconds = 0
            $0.mvpds[0].authzTtlSeconds = 0
        }
        #expect(await fault { try await end("c") }?.code == .networkReceivedError)
        fixture.catalogue.change { $0.mvpds[0].authzTtlSeconds = 3600 }
        fixture.signIn(lifetime: .seconds(30))
        #expect(try await end("d") == 30_000)
    }
}
