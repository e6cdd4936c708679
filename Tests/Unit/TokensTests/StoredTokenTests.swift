import Clocks
import Cryptography
import Testing

@testable import Tokens

@Suite("Stored tokens")
struct StoredTokenTests {
    private let keys: SigningKeys
    private let issuer: StoredTokenIssuer

    init() throws {
        keys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        issuer = StoredTokenIssuer(keys: keys)
    }

    private func session(_ requestor: String = "ACME1") -> StoredTokenClaims {
        StoredTokenClaims(
            guid: "ab12", requestor: requestor, mvpd: "NorthCable", fingerprint: "f00d", sessionIndex: "handle-1",
            expiresAt: Timestamp(seconds: 1_798_079_374))
    }

    private func permit(_ resource: String) -> StoredTokenClaims {
        var token = session()
        token.resource = resource
        return token
    }

    @Test("clients #41: a token of a session has the elements that apps look for, on one line")
    func writesSession() throws {
        let text = try issuer.issue(session())
        let payload = try #require(text.range(of: "</signatureInfo>").map { text[$0.upperBound...] })
        #expect(
            payload == """
                <simpleAuthenticationToken><simpleTokenAuthenticationGuid>ab12</simpleTokenAuthenticationGuid>\
                <simpleTokenRequestorID>ACME1</simpleTokenRequestorID><simpleTokenDomainName>adobe.com</simpleTokenDomainName>\
                <simpleTokenExpires>2026/12/24 02:29:34 GMT +0000</simpleTokenExpires><simpleTokenMsoID>NorthCable</simpleTokenMsoID>\
                <simpleTokenDeviceID><simpleTokenFingerprint>f00d</simpleTokenFingerprint></simpleTokenDeviceID>\
                <simpleSamlNameID>ab12</simpleSamlNameID><simpleSamlSessionIndex>handle-1</simpleSamlSessionIndex></simpleAuthenticationToken>
                """)
        #expect(try StoredTokenVerifier(.authentication, keys: keys).verify(text) == session())
    }

    @Test(
        "clients #41: a permit's resource comes back as it was",
        arguments: [
            "AcmeSports1", "a & b <c> \"d\" 'e'", "ü–日本", "\u{301}combining first", "line\r\nbreak\tand tab", "]]>",
            "<rss version=\"2.0\"><channel><title>T</title></channel></rss>", "</simpleTokenResourceID><simpleTokenMsoID>Other</simpleTokenMsoID>",
        ])
    func keepsResource(_ resource: String) throws {
        let text = try issuer.issue(permit(resource))
        let read = try StoredTokenVerifier(.authorization, keys: keys).verify(text)
        #expect(read == permit(resource))
        #expect(read.mvpd == "NorthCable")
    }

    @Test("clients #41: what a replaced key has signed stays good, through two changes")
    func survivesRotation() throws {
        let verifier = StoredTokenVerifier(.authentication, keys: keys)
        let text = try issuer.issue(session())
        for _ in 1...2 {
            let next = SigningKeyRing(current: keys.ring.current, next: JoseSigningKey(try P256PrivateKey.generate()), previous: keys.ring.previous)
            keys.replace(try #require(next.rotated()))
            verifier.forget()
            #expect(try verifier.verify(text) == session())
        }
        #expect(try verifier.verify(try issuer.issue(session("ACME2"))).requestor == "ACME2")
    }

    @Test("clients #42: a changed octet, another house's key and no token at all are foreign")
    func refusesForeign() throws {
        let verifier = StoredTokenVerifier(.authentication, keys: keys)
        let text = try issuer.issue(session())
        let stranger = SigningKeys(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        for wrong in [
            text.replacing("ACME1", with: "ACME2"), try StoredTokenIssuer(keys: stranger).issue(session()), "", "token", "<signatureInfo>",
            text.replacing("</signatureInfo>", with: "<signatureInfo>"), text + " ", String(text.dropLast()), "<signatureInfo>!</signatureInfo>x",
        ] {
            #expect(throws: StoredTokenRejection.foreign) { try verifier.verify(wrong) }
        }
    }

    @Test("clients #42: the other kind, a document type and a megabyte are malformed")
    func refusesMalformed() throws {
        let sessions = StoredTokenVerifier(.authentication, keys: keys)
        let permits = StoredTokenVerifier(.authorization, keys: keys)
        let swapped = (try issuer.issue(permit("x")), try issuer.issue(session()))
        #expect(throws: StoredTokenRejection.malformed) { try sessions.verify(swapped.0) }
        #expect(throws: StoredTokenRejection.malformed) { try permits.verify(swapped.1) }
        for verifier in [sessions, permits] {
            #expect(throws: StoredTokenRejection.malformed) { try verifier.verify(String(repeating: "a", count: 1 << 20)) }
            #expect(throws: StoredTokenRejection.malformed) { try verifier.verify("<!DOCTYPE x [<!ENTITY y \"z\">]>" + swapped.1) }
        }
    }

    @Test("an ordinary token is remembered; one with a resource of kilobytes is checked each time")
    func remembersShortOnes() throws {
        let verifier = StoredTokenVerifier(.authorization, keys: keys)
        let (short, long) = (try issuer.issue(permit("ACME1-NEWS")), try issuer.issue(permit(String(repeating: "x", count: 4000))))
        for text in [short, long] { _ = try verifier.verify(text) }
        keys.replace(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        #expect(try verifier.verify(short) == permit("ACME1-NEWS"), "nobody has said that a key has gone")
        #expect(throws: StoredTokenRejection.foreign) { try verifier.verify(long) }
    }

    @Test("what is remembered is bounded, and forgotten with its key")
    func forgets() throws {
        let verifier = StoredTokenVerifier(.authentication, keys: keys, capacity: 4)
        let texts = try (0..<20).map { try issuer.issue(session("R\($0)")) }
        for text in texts + texts { _ = try verifier.verify(text) }
        keys.replace(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate())))
        verifier.forget()
        #expect(throws: StoredTokenRejection.foreign) { try verifier.verify(texts[19]) }
    }
}
