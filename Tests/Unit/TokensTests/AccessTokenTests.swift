import Clocks
import Cryptography
import ManualClocks
import Testing
import Tokens

@Suite struct AccessTokenTests {
    private static let now = Timestamp(milliseconds: 1_741_083_330_250)
    private let keys: SigningKeys

    init() throws { keys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate()))) }

    private func issuer(lifetime: Duration = AccessTokenIssuer.defaultLifetime, at now: Timestamp = Self.now) -> AccessTokenIssuer {
        AccessTokenIssuer(keys: keys, issuer: "https://pass.example", audience: "api", lifetime: lifetime, clock: ManualClock(now))
    }

    private func verifier(
        _ keys: SigningKeys? = nil, issuer: String = "https://pass.example", audience: String = "api", at now: Timestamp = Self.now
    ) -> AccessTokenVerifier {
        AccessTokenVerifier(keys: keys ?? self.keys, issuer: issuer, audience: audience, clock: ManualClock(now))
    }

    @Test("rest-v1 §3.2: a token lives six hours by default and says client and scopes")
    func carriesItsClaims() throws {
        let issued = try issuer().issue(client: "client-1", scopes: ["api:client:v1", "api:client:v2"])
        let claims = try verifier().verify(issued.token)
        #expect(claims.clientID == "client-1")
        #expect(claims.scopes == ["api:client:v1", "api:client:v2"])
        #expect(claims.id == issued.id)
        #expect(claims.expiresAt == issued.expiresAt)
        #expect(issued.expiresAt == Timestamp(seconds: Self.now.seconds + 21_600))
        #expect("\(issued)" == "[hidden]")
    }

    @Test("rest-v1 #10: an expired token is refused, to the second")
    func refusesExpiredTokens() throws {
        let token = try issuer(lifetime: .seconds(60)).issue(client: "c", scopes: []).token
        #expect(throws: Never.self) { try verifier(at: Self.now + .seconds(59)).verify(token) }
        #expect(throws: TokenRejection.expired) { try verifier(at: Self.now + .seconds(60)).verify(token) }
        #expect(throws: TokenRejection.notYetValid) { try verifier(at: Self.now - .seconds(120)).verify(token) }
    }

    @Test func saysWhyATokenIsRefused() throws {
        let token = try issuer().issue(client: "c", scopes: []).token
        let stranger = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate())))
        #expect(throws: TokenRejection.unknownKey) { try verifier(stranger).verify(token) }
        #expect(throws: TokenRejection.wrongIssuer) { try verifier(issuer: "https://other.example").verify(token) }
        #expect(throws: TokenRejection.wrongAudience) { try verifier(audience: "other").verify(token) }
        #expect(throws: TokenRejection.malformed) { try verifier().verify("not a token") }
        #expect(throws: TokenRejection.malformed) { try verifier().verify("") }
        #expect(throws: TokenRejection.malformed) { try verifier().verify(token + "=") }
        #expect(throws: TokenRejection.malformed) { try verifier().verify(String(repeating: "a", count: 20_000)) }
        let parts = token.split(separator: ".").map(String.init)
        #expect(throws: TokenRejection.invalidSignature) { try verifier().verify("\(parts[0]).e30.\(parts[2])") }
    }

    @Test(arguments: ["none", "HS256", "RS256", "ES384"])
    func theKeyDecidesTheAlgorithm(algorithm: String) throws {
        let kid = keys.ring.current.identifier
        let header = Base64.url.encode(Array(#"{"alg":"\#(algorithm)","kid":"\#(kid)","typ":"at+jwt"}"#.utf8))
        #expect(throws: TokenRejection.wrongAlgorithm) { try verifier().verify("\(header).e30.AA") }
    }

    @Test(arguments: [#"{"alg":1e300}"#, #"{"alg":"ES256","kid":7}"#, "[]", "null"])
    func hostileHeadersAreMalformed(header: String) {
        #expect(throws: TokenRejection.malformed) { try verifier().verify("\(Base64.url.encode(Array(header.utf8))).e30.AA") }
    }

    @Test func aStatementIsNoAccessToken() throws {
        let statement = try SoftwareStatementIssuer(keys: keys, issuer: "https://pass.example", clock: ManualClock(MediaTokenFixture.now))
            .issue(SoftwareStatement(softwareID: "s", applicationID: "a", applicationName: "A"))
        #expect(throws: TokenRejection.wrongType) { try verifier().verify(statement) }
    }

    @Test("decision 0020: keys are published before they sign and verify after they did")
    func rotatesWithoutInvalidatingTokens() throws {
        let first = JoseSigningKey(try .generate())
        let second = JoseSigningKey(try .generate())
        let ring = SigningKeyRing(current: first, next: second)
        #expect(ring.keySet.keys.map(\.identifier) == [first.identifier, second.identifier])
        let keys = SigningKeys(ring)
        let issuer = AccessTokenIssuer(keys: keys, issuer: "i", audience: "a", clock: ManualClock(MediaTokenFixture.now))
        let verifier = AccessTokenVerifier(keys: keys, issuer: "i", audience: "a", clock: ManualClock(MediaTokenFixture.now))
        let old = try issuer.issue(client: "c", scopes: []).token
        keys.replace(try #require(ring.rotated()))
        let new = try issuer.issue(client: "c", scopes: []).token
        #expect(try verifier.verify(old).clientID == "c")
        #expect(try verifier.verify(new).clientID == "c")
        #expect(keys.ring.current.identifier == second.identifier)
        keys.replace(SigningKeyRing(current: second))
        #expect(throws: TokenRejection.unknownKey) { try verifier.verify(old) }
    }
}
