import Clocks
import Cryptography
import ManualClocks
import MediaTokenVerifier
import Testing
import Tokens

@Suite struct MediaTokenVerifierTests {
    private let fixture: MediaTokenFixture

    init() throws { fixture = try MediaTokenFixture() }

    @Test("rest-v1 #70: an untouched token is valid for its resource and without one", arguments: MediaTokenIssuer.Form.allCases)
    func acceptsUntouchedTokens(form: MediaTokenIssuer.Form) async throws {
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: form).serialized
        #expect(fixture.verdict(token) == .valid)
        #expect(fixture.verdict(token, resource: nil) == .valid)
        #expect(fixture.verdict(token, requestor: nil) == .valid)
        #expect(fixture.verdict("\n \(token)\r\n") == .valid)
    }

    @Test(
        "rest-v1 #69: the decoded token carries requestor, resource, ttl 420000; it ends at issue time plus ttl",
        arguments: MediaTokenIssuer.Form.allCases)
    func exposesTheFacts(form: MediaTokenIssuer.Form) async throws {
        var play = MediaTokenFixture.play
        play.proxyMvpd = "ProxyCable"
        let issued = try await fixture.issuer.issue(play, form: form)
        let facts = try #require(fixture.verifier().verify(issued.serialized, requestor: "CHAN7", resource: "CHAN7-HD").facts)
        #expect(facts == issued.facts)
        #expect(facts.requestor == "CHAN7")
        #expect(facts.resource == "CHAN7-HD")
        #expect(facts.mvpd == "DemoCable")
        #expect(facts.proxyMvpd == "ProxyCable")
        #expect(facts.sessionGUID == play.sessionGUID)
        #expect(facts.ttl == .milliseconds(420_000))
        #expect(facts.issuedAt == Timestamp(seconds: 1_741_083_330))
        #expect(facts.expiresAt == Timestamp(seconds: 1_741_083_750))
    }

    @Test("rest-v1 #71: one changed payload byte spoils the signature", arguments: MediaTokenIssuer.Form.allCases)
    func refusesChangedBytes(form: MediaTokenIssuer.Form) async throws {
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: form).serialized
        #expect(fixture.verdict(Self.replace("CHAN7-HD", "CHAN7-4K", in: token), resource: nil) == .invalidSignature)
        #expect(fixture.verdict(Self.replace("420000", "920000", in: token)) == .invalidSignature)
    }

    @Test("rest-v1 #71: another resource is refused", arguments: MediaTokenIssuer.Form.allCases)
    func refusesAnotherResource(form: MediaTokenIssuer.Form) async throws {
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: form).serialized
        #expect(fixture.verdict(token, resource: "CHAN7-SD") == .invalidResource)
        #expect(fixture.verdict(token, resource: "chan7-hd") == .invalidResource)
        #expect(fixture.verdict(token, resource: "") == .invalidResource)
    }

    @Test("rest-v1 #71: texts that only look alike differ, in what is compared and in what is told", arguments: MediaTokenIssuer.Form.allCases)
    func comparesOctets(form: MediaTokenIssuer.Form) async throws {
        let (composed, decomposed) = ("Caf\u{e9}", "Cafe\u{301}")
        var play = MediaTokenFixture.play
        (play.requestor, play.resource) = (composed, composed)
        let issued = try await fixture.issuer.issue(play, form: form)
        #expect(fixture.verdict(issued.serialized, requestor: composed, resource: composed) == .valid)
        #expect(fixture.verdict(issued.serialized, requestor: composed, resource: decomposed) == .invalidResource)
        #expect(fixture.verdict(issued.serialized, requestor: decomposed, resource: composed) == .invalidSignature)
        var other = issued.facts
        other.resource = decomposed
        #expect(other != issued.facts && Set([other, issued.facts]).count == 2)
        #expect(MediaTokenClaims(other, identifier: "1") != MediaTokenClaims(issued.facts, identifier: "1"))
    }

    @Test("rest-v1 #71: eight minutes later the token has expired; the end itself is excluded", arguments: MediaTokenIssuer.Form.allCases)
    func refusesExpiredTokens(form: MediaTokenIssuer.Form) async throws {
        let issued = try await fixture.issuer.issue(MediaTokenFixture.play, form: form)
        let end = issued.facts.expiresAt
        #expect(fixture.verdict(issued.serialized, at: MediaTokenFixture.now + .seconds(480)) == .expired)
        #expect(fixture.verdict(issued.serialized, at: end) == .expired)
        #expect(fixture.verdict(issued.serialized, at: end - .milliseconds(1)) == .valid)
    }

    @Test("rest-v1 §7: an issuer's clock may be a minute ahead", arguments: MediaTokenIssuer.Form.allCases)
    func toleratesAClockAhead(form: MediaTokenIssuer.Form) async throws {
        let issued = try await fixture.issuer.issue(MediaTokenFixture.play, form: form)
        #expect(fixture.verdict(issued.serialized, at: issued.facts.issuedAt - .seconds(60)) == .valid)
        #expect(fixture.verdict(issued.serialized, at: issued.facts.issuedAt - .milliseconds(60_001)) == .expired)
    }

    @Test("rest-v1 #71: garbage is no token", arguments: ["", "garbage", "....", "PHNpZ25hdHVyZUluZm8+", "e30.e30.e30", "a.b"])
    func refusesGarbage(text: String) {
        #expect(fixture.verdict(text) == .invalidFormat)
    }

    @Test("rest-v1 §7: a token of another requestor counts as wrongly signed", arguments: MediaTokenIssuer.Form.allCases)
    func refusesAnotherRequestor(form: MediaTokenIssuer.Form) async throws {
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: form).serialized
        #expect(fixture.verdict(token, requestor: "CHAN8") == .invalidSignature)
    }

    @Test("rest-v1 §7: the order is signature, time, requestor, resource", arguments: MediaTokenIssuer.Form.allCases)
    func judgesInOrder(form: MediaTokenIssuer.Form) async throws {
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: form).serialized
        let late = MediaTokenFixture.now + .seconds(3600)
        #expect(fixture.verdict(token, requestor: "CHAN8", resource: "other", at: late) == .expired)
        #expect(fixture.verdict(token, requestor: "CHAN8", resource: "other") == .invalidSignature)
        let changed = Self.replace("CHAN7-HD", "CHAN7-4K", in: token)
        #expect(fixture.verdict(changed, at: late) == .invalidSignature)
    }

    @Test("rest-v1 §7: any of several trusted certificates may match; none trusted means none valid")
    func acceptsAnyTrustedCertificate() async throws {
        let other = try MediaTokenFixture(key: .generate())
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: .reference).serialized
        #expect(other.verdict(token) == .invalidSignature)
        let both = try TrustedMediaTokenKeys(certificates: [other.identity.certificate, fixture.identity.certificate])
        let verifier = MediaTokenVerifier(trustedKeys: both, clock: ManualClock(MediaTokenFixture.now))
        #expect(verifier.verify(token, requestor: "CHAN7", resource: nil).verdict == .valid)
        let none = MediaTokenVerifier(trustedKeys: TrustedMediaTokenKeys(), clock: ManualClock(MediaTokenFixture.now))
        #expect(none.verify(token, requestor: "CHAN7", resource: nil).verdict == .invalidSignature)
    }

    @Test("rest-v1 §7: nothing is known before the check")
    func knowsNothingBeforeTheCheck() async throws {
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: .reference).serialized
        var check = MediaTokenCheck(token: token, requestor: nil, resource: nil)
        #expect(check.verdict.rawValue == "ERROR_UNKNOWN")
        #expect(check.facts == nil)
        check.validate(trustedKeys: fixture.trusted, now: MediaTokenFixture.now)
        #expect(check.verdict.rawValue == "VALID_TOKEN")
    }

    @Test("rest-v1 §7: with a replay cache a token passes once", arguments: MediaTokenIssuer.Form.allCases)
    func passesOnceWithAReplayCache(form: MediaTokenIssuer.Form) async throws {
        let verifier = fixture.verifier(replays: ReplayCache())
        let first = try await fixture.issuer.issue(MediaTokenFixture.play, form: form).serialized
        let second = try await fixture.issuer.issue(MediaTokenFixture.play, form: form).serialized
        #expect(verifier.verify(first, requestor: nil, resource: nil).verdict == .valid)
        let again = verifier.verify(first, requestor: nil, resource: nil)
        #expect(again.verdict == .expired)
        #expect(again.isReplay)
        #expect(verifier.verify(second, requestor: nil, resource: nil).verdict == .valid)
    }

    @Test func aFullReplayCacheRefusesRatherThanForgets() async throws {
        let verifier = fixture.verifier(replays: ReplayCache(limit: 1))
        let first = try await fixture.issuer.issue(MediaTokenFixture.play, form: .jws).serialized
        let second = try await fixture.issuer.issue(MediaTokenFixture.play, form: .jws).serialized
        #expect(verifier.verify(first, requestor: nil, resource: nil).verdict == .valid)
        #expect(verifier.verify(second, requestor: nil, resource: nil).isReplay)
    }

    /// Changes text inside the encoding of either form.
    private static func replace(_ old: String, _ new: String, in token: String) -> String {
        func changed(_ bytes: [UInt8]) -> [UInt8] {
            let text = String(decoding: bytes, as: UTF8.self)
            return Array(text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new).utf8)
        }
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3 else { return Base64.standard.encode(changed(Base64.standard.decode(token) ?? [])) }
        return "\(parts[0]).\(Base64.url.encode(changed(Base64.url.decode(parts[1]) ?? []))).\(parts[2])"
    }
}
