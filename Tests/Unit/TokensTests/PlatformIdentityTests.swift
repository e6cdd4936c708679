import Clocks
import Cryptography
import Testing
import Tokens

/// rest-v1 §2.6: a token is accepted by its issuer's key, audience and time; its own claims about algorithms or keys have no effect.
struct PlatformIdentityTests {
    private static let now = Timestamp(seconds: 1_930_384_800)
    private let elliptic: P256PrivateKey
    private let rsa: RSAPrivateKey
    private let verifier: PlatformIdentityVerifier

    init() throws {
        elliptic = try P256PrivateKey.generate()
        rsa = try RSAPrivateKey.generate()
        verifier = PlatformIdentityVerifier(keys: [
            "https://roku.example": JSONWebKeySet(keys: [JSONWebKey(.p256(elliptic.publicKey), identifier: "e1")]),
            "https://apple.example": JSONWebKeySet(keys: [JSONWebKey(.rsa(rsa.publicKey), identifier: "r1")]),
        ])
    }

    @Test func acceptsBothAlgorithms() throws {
        let claims = try verifier.verify(token(), now: Self.now)
        #expect(claims.issuer == "https://roku.example" && claims.subject == "user-1" && claims.expiresAt == Self.now + .seconds(60))
        let signed = try token(header: #"{"alg":"RS256","kid":"r1","typ":"JWT"}"#, issuer: "https://apple.example") { try rsa.sign($0) }
        #expect(try verifier.verify(signed, now: Self.now).issuer == "https://apple.example")
    }

    @Test func theOnlyKeyNeedsNoName() throws {
        #expect(try verifier.verify(token(header: #"{"alg":"ES256"}"#), now: Self.now).subject == "user-1")
        let two = PlatformIdentityVerifier(keys: [
            "https://roku.example": JSONWebKeySet(keys: [
                JSONWebKey(.p256(elliptic.publicKey)), JSONWebKey(.p256(try P256PrivateKey.generate().publicKey)),
            ])
        ])
        #expect(throws: TokenRejection.unknownKey) { try two.verify(token(header: #"{"alg":"ES256"}"#), now: Self.now) }
    }

    @Test(arguments: [#""adobe""#, #""Adobe""#, #""ADOBE""#, #"["x","aDobe"]"#])
    func theAudiencesLetterCaseDoesNotCount(_ audience: String) throws {
        #expect(try verifier.verify(token(audience: audience), now: Self.now).subject == "user-1")
    }

    @Test func refusesWhatDoesNotHold() throws {
        let cases: [(String, TokenRejection)] = [
            (try token(audience: #""adobes""#), .wrongAudience), (try token(audience: "[]"), .wrongAudience),
            (try token(audience: "7"), .malformed), (try token(expiry: Self.now.seconds), .expired),
            (try token(further: #","nbf":\#(Self.now.seconds + 61)"#), .notYetValid), (try token(subject: ""), .malformed),
            (try token(issuer: "https://else.example"), .wrongIssuer), (try token(header: #"{"alg":"none","kid":"e1"}"#), .wrongAlgorithm),
            (try token(header: #"{"alg":"RS256","kid":"e1"}"#), .wrongAlgorithm),
            (try token(header: #"{"alg":"HS256","kid":"e1"}"#), .wrongAlgorithm),
            (try token(header: #"{"alg":"ES256","kid":"e2"}"#), .unknownKey),
            (try token(header: #"{"alg":"ES256","kid":"e1","typ":"at+jwt"}"#), .wrongType),
            (try token(header: #"{"alg":"ES256","kid":"e1","crit":["x"]}"#), .wrongType), (try token() + "A", .invalidSignature),
            ("", .malformed), ("a.b.c.d.e", .malformed), (String(repeating: "a", count: 20_000), .malformed),
        ]
        for (text, rejection) in cases { #expect(throws: rejection) { try verifier.verify(text, now: Self.now) } }
    }

    @Test func anIssuersKeySignsForThatIssuerOnly() throws {
        let forged = try token(header: #"{"alg":"ES256","kid":"e1"}"#, issuer: "https://apple.example")
        #expect(throws: TokenRejection.unknownKey) { try verifier.verify(forged, now: Self.now) }
    }

    private func token(
        header: String = #"{"alg":"ES256","kid":"e1"}"#, issuer: String = "https://roku.example", subject: String = "user-1",
        audience: String = #""adobe""#, expiry: Int64? = nil, further: String = "", sign: (([UInt8]) throws -> [UInt8])? = nil
    ) throws -> String {
        let claims =
            #"{"iss":"\#(issuer)","sub":"\#(subject)","aud":\#(audience),"exp":\#(expiry ?? Self.now.seconds + 60)\#(further)}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        let bytes = Array(input.utf8)
        return input + "." + Base64.url.encode(try sign.map { try $0(bytes) } ?? elliptic.sign(bytes))
    }
}
