import Clocks
import Cryptography
import ManualClocks
import MediaTokenVerifier
import Testing
import Tokens

/// Several copies of a service that issue with one key.
@Suite struct CopiesTests {
    @Test("rest-v1 #72: tokens of one play and one second differ from copy to copy, and every verifier accepts them")
    func copiesNeverIssueEqualTokens() async throws {
        let key = try RSAPrivateKey.generate()
        let fixture = try MediaTokenFixture(key: key)
        var tokens: Set<String> = []
        for copy in [0, 1, 59, 60, 839] {
            let issuer = MediaTokenIssuer(
                referenceKey: ReferenceSigningKey(key), jwsKeys: fixture.jwsKeys, pool: SigningPool(threads: 1),
                clock: ManualClock(MediaTokenFixture.now), copy: copy)
            let issued = try await issuer.issue(MediaTokenFixture.play, form: .reference)
            let check = fixture.verifier().verify(issued.serialized, requestor: "CHAN7", resource: "CHAN7-HD")
            #expect(check.verdict == .valid)
            #expect(check.facts?.issuedAt == Timestamp(seconds: MediaTokenFixture.now.seconds), "one moment, whatever the zone")
            #expect(issued.facts.issuedAt == check.facts?.issuedAt)
            tokens.insert(issued.serialized)
        }
        #expect(tokens.count == 5)
    }

    @Test("rest-v1 §7: the first copy writes UTC; the others a zone of their own")
    func writesZones() {
        let now = MediaTokenFixture.now
        #expect(IssueTime.format(now) == "2025-03-04 10:15:30 +0000")
        #expect(IssueTime.format(now, zone: 1) == "2025-03-04 10:16:30 +0001")
        #expect(IssueTime.format(now, zone: 839) == "2025-03-05 00:14:30 +1359")
    }
}
