import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Faults
import MediaTokenVerifier
import Testing

@Suite struct MediaTokenTests {
    @Test("rest-v1 #68: no permit, no media token; with one its fields are complete")
    func needsAPermit() async throws {
        let fixture = try AuthorizationFixture()
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
        #expect(fixture.transport.requestCount == 0)
        _ = try await fixture.authorize()
        let token = try await fixture.mediaToken()
        #expect(token.requestor == "CHAN7")
        #expect(token.resource == "CHAN7-HD")
        #expect(token.mvpd == "DemoCable")
        #expect(token.userID == AuthorizationFixture.userID)
        #expect(!token.serializedToken.isEmpty)
    }

    @Test("rest-v1 #69: the published certificate verifies the token; it ends at issue time plus 420 s")
    func verifiesWithThePublishedKeys() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        let token = try await fixture.mediaToken()
        let keys = try await fixture.service.getMediaTokenKeys(GetMediaTokenKeysRequest(), context: CallContext())
        let trusted = try TrustedMediaTokenKeys(certificates: Certificate.all(pem: keys.certificates))
        let check = MediaTokenVerifier(trustedKeys: trusted, clock: fixture.clock)
            .verify(token.serializedToken, requestor: "CHAN7", resource: "CHAN7-HD")
        #expect(check.verdict == .valid)
        #expect(check.facts?.ttl == .milliseconds(420_000))
        #expect(token.expiresAtMilliseconds == UInt64((fixture.clock.now() + .seconds(420)).milliseconds))
    }

    @Test("rest-v1 §7: a requestor may have compact JWS, verified with the published key set, and its own TTL")
    func issuesCompactJWS() async throws {
        let fixture = try AuthorizationFixture {
            $0.requestors[0].mediaTokenFormat = .jws
            $0.requestors[0].mediaTokenTtlSeconds = 60
        }
        _ = try await fixture.authorize()
        let token = try await fixture.mediaToken()
        let keys = try await fixture.service.getMediaTokenKeys(GetMediaTokenKeysRequest(), context: CallContext())
        var trusted = TrustedMediaTokenKeys()
        try trusted.add(jwks: keys.jwks)
        let check = MediaTokenVerifier(trustedKeys: trusted, clock: fixture.clock).verify(
            token.serializedToken, requestor: "CHAN7", resource: "CHAN7-HD")
        #expect(check.verdict == .valid)
        #expect(check.facts?.ttl == .seconds(60))
        #expect(token.serializedToken.split(separator: ".").count == 3)
    }

    @Test("rest-v1 #72: two calls, two tokens; the session GUID is the user's on any device")
    func neverRepeatsAToken() async throws {
        let fixture = try AuthorizationFixture()
        fixture.signIn(device: "dev-2", session: "session-2")
        _ = try await fixture.authorize()
        _ = try await fixture.authorize(device: "dev-2")
        let tokens = [try await fixture.mediaToken(), try await fixture.mediaToken(), try await fixture.mediaToken(device: "dev-2")]
        #expect(Set(tokens.map(\.serializedToken)).count == 3)
        let verifier = MediaTokenVerifier(trustedKeys: try TrustedMediaTokenKeys(certificates: [fixture.identity.certificate]), clock: fixture.clock)
        let guids = tokens.map { verifier.verify($0.serializedToken, requestor: "CHAN7", resource: nil).facts?.sessionGUID }
        #expect(Set(guids) == [AuthorizationFixture.userID])
    }

    @Test("rest-v1 §2.7: one play gets 120 tokens of the reference form in 120 s; the next one has to wait, other plays need not")
    func limitsTheTokensOfOnePlay() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        var tokens: Set<String> = []
        for _ in 1...120 { tokens.insert(try await fixture.mediaToken().serializedToken) }
        #expect(tokens.count == 120)
        let refusal = await fault { try await fixture.mediaToken() }
        #expect(refusal?.code == .tooManyRequests)
        #expect(refusal?.retryAfter == .seconds(1))
        fixture.transport.answer(Xacml.response(Xacml.result("Permit")))
        _ = try await fixture.authorize("CHAN7-SD")
        _ = try await fixture.mediaToken("CHAN7-SD")
        fixture.clock.advance(by: .seconds(1))
        tokens.insert(try await fixture.mediaToken().serializedToken)
        #expect(tokens.count == 121)
    }

    @Test("rest-v1 #112: an expired permit counts as none")
    func refusesAnExpiredPermit() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        fixture.clock.advance(by: .seconds(3600))
        #expect(await fault { try await fixture.mediaToken() }?.code == .authorizationNotFound)
    }

    @Test("rest-v1 §3.18: the session must be alive")
    func needsASession() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        fixture.table.expire(device: "dev-1", requestor: "CHAN7")
        #expect(await fault { try await fixture.mediaToken() }?.code == .authenticationSessionExpired)
        fixture.table.remove(device: "dev-1", requestor: "CHAN7")
        #expect(await fault { try await fixture.mediaToken() }?.code == .authenticationSessionMissing)
    }
}
