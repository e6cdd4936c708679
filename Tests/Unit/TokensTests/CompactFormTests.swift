import Clocks
import Cryptography
import Foundation
import ManualClocks
import MediaTokenVerifier
import Testing
import Tokens

/// The JWS form against the known attacks on JOSE.
@Suite struct CompactFormTests {
    private let key: P256PrivateKey
    private let trusted: TrustedMediaTokenKeys

    init() throws {
        key = try .generate()
        var trusted = TrustedMediaTokenKeys()
        trusted.add(.p256(key.publicKey), keyIdentifier: "k1")
        self.trusted = trusted
    }

    private static let claims =
        #"{"sub":"ab","jti":"1","iat":1741083330,"exp":1741083750,"ttl":420000,"requestor":"CHAN7","resource":"CHAN7-HD","mvpd":"DemoCable"}"#

    private func verdict(header: String, claims: String = Self.claims) throws -> MediaTokenVerdict {
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        let token = input + "." + Base64.url.encode(try key.sign(Array(input.utf8)))
        return MediaTokenVerifier(trustedKeys: trusted, clock: ManualClock(MediaTokenFixture.now)).verify(
            token, requestor: "CHAN7", resource: "CHAN7-HD"
        ).verdict
    }

    @Test(
        "Any text in a claim comes back as it was",
        arguments: ["CHAN7-HD", #"a "quoted" \ back/slash"#, "tab\tline\u{1}\u{1f}\u{7f}", "ümläut 🦊", ""])
    func writesAnyTextAsJSON(resource: String) async throws {
        let fixture = try MediaTokenFixture()
        var play = MediaTokenFixture.play
        play.resource = resource
        play.proxyMvpd = resource.isEmpty ? nil : "Proxy<&>"
        let token = try await fixture.issuer.issue(play, form: .jws).serialized
        let parts = try token.split(separator: ".").map { try #require(Base64.url.decode(String($0))) }
        let claims = try JSONDecoder().decode(MediaTokenClaims.self, from: Data(parts[1]))
        #expect(claims.resource == resource && claims.proxyMvpd == play.proxyMvpd && claims.ttl == 420_000)
        let header = try JSONDecoder().decode([String: String].self, from: Data(parts[0]))
        #expect(header == ["alg": "ES256", "kid": fixture.jwsKeys.ring.current.identifier, "typ": MediaTokenClaims.type])
    }

    @Test func acceptsItsOwnHeader() throws {
        #expect(try verdict(header: #"{"alg":"ES256","kid":"k1","typ":"media-token+jwt"}"#) == .valid)
    }

    @Test(arguments: [
        #"{"alg":"none","kid":"k1","typ":"media-token+jwt"}"#, #"{"alg":"HS256","kid":"k1","typ":"media-token+jwt"}"#,
        #"{"alg":"ES256","kid":"k1","typ":"at+jwt"}"#, #"{"alg":"ES256","kid":"k1"}"#,
        #"{"alg":"ES256","kid":"k1","typ":"media-token+jwt","crit":["exp"]}"#, #"{"alg":1e300}"#, "{}", "[]", "",
    ])
    func refusesOtherHeaders(header: String) throws {
        #expect(try verdict(header: header) == .invalidFormat)
    }

    @Test func refusesAKeyOfAnotherName() throws {
        #expect(try verdict(header: #"{"alg":"ES256","kid":"k2","typ":"media-token+jwt"}"#) == .invalidSignature)
    }

    @Test(arguments: [
        #"{"sub":"ab","jti":"1","iat":9e99,"exp":1,"ttl":1,"requestor":"CHAN7","resource":"CHAN7-HD","mvpd":"DemoCable"}"#,
        #"{"sub":"ab","jti":"1","iat":9223372036854775807,"exp":9223372036854775807,"ttl":1,"requestor":"C","resource":"R","mvpd":"M"}"#,
        #"{"sub":"ab","jti":"1","iat":1741083330,"exp":1941083750,"ttl":420000,"requestor":"CHAN7","resource":"CHAN7-HD","mvpd":"DemoCable"}"#,
        #"{"sub":"ab"}"#, "null", "",
    ])
    func refusesImpossibleClaims(claims: String) throws {
        #expect(try verdict(header: #"{"alg":"ES256","kid":"k1","typ":"media-token+jwt"}"#, claims: claims) == .invalidFormat)
    }

    @Test(
        "RFC 7515 §4, RFC 7519 §4, RFC 8259: a member that is there twice, and what is no JSON to the letter, are refused",
        arguments: [
            (#"{"alg":"ES256","alg":"ES256","kid":"k1","typ":"media-token+jwt"}"#, Self.claims),
            (#"{"alg":"ES256","kid":"k1","typ":"media-token+jwt",}"#, Self.claims),
            (#"{"alg":"ES256","kid":"k1","typ":"media-token+jwt","x":[1,]}"#, Self.claims),
            (#"{"alg":"ES256","kid":"k1","typ":"media-token+jwt"}"#, Self.claims.replacing("}", with: #","resource":"CHAN7-HD"}"#)),
            (#"{"alg":"ES256","kid":"k1","typ":"media-token+jwt"}"#, Self.claims.replacing("}", with: #","x":-01}"#)),
            (#"{"alg":"ES256","kid":"k1","typ":"media-token+jwt"}"#, Self.claims.replacing("}", with: #","x":"\ud800"}"#)),
        ])
    func refusesLooseJSON(header: String, claims: String) throws {
        #expect(try verdict(header: header, claims: claims) == .invalidFormat)
    }

    @Test("RFC 7515 §4, RFC 7519 §4: members that nobody asks for do no harm")
    func ignoresUnknownMembers() throws {
        let claims = Self.claims.replacing("}", with: #","more":{"a":[1]}}"#)
        #expect(try verdict(header: #"{"alg":"ES256","kid":"k1","typ":"media-token+jwt","x5t":"AA"}"#, claims: claims) == .valid)
    }

    @Test(
        "RFC 7517 §5: an entry that cannot be used is skipped, and the others serve",
        arguments: [
            "null", "7", "{}", #"{"kty":"EC"}"#, #"{"kty":"EC","crv":"P-256","kid":7,"x":"AA","y":"AA"}"#,
            #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
            #"{"kty":"EC","crv":"P-256","x":"AA"}"#, #"{"kty":"EC","kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"AKP","alg":"ML-DSA-44"}"#,
        ])
    func skipsOddEntries(entry: String) throws {
        let (x, y) = (Base64.url.encode(key.publicKey.coordinates.x), Base64.url.encode(key.publicKey.coordinates.y))
        let good = #"{"kty":"EC","crv":"P-256","kid":"k1","x":"\#(x)","y":"\#(y)"}"#
        for entries in ["\(entry),\(good)", "\(good),\(entry)"] {
            var trusted = TrustedMediaTokenKeys()
            try trusted.add(jwks: #"{"keys":[\#(entries)]}"#)
            #expect(!trusted.isEmpty, "\(entries)")
        }
    }

    @Test func readsKeySetsAndRefusesBrokenOnes() throws {
        var trusted = TrustedMediaTokenKeys()
        try trusted.add(jwks: #"{"keys":[{"kty":"oct","k":"AA"},{"kty":"EC","crv":"P-521","x":"AA","y":"AA"}]}"#)
        #expect(trusted.isEmpty)
        for broken in ["[]", #"{"keys":[],}"#, #"{"keys":[],"keys":[]}"#, #"{"keys":{}}"#, "{}"] {
            #expect(throws: CryptographyError.self) { try trusted.add(jwks: broken) }
        }
        #expect(throws: CryptographyError.self) { try trusted.add(jwks: #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#) }
    }
}
