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

    @Test("RFC 7517 §4.5: a token that names no key may be of any that fits, of which four are tried")
    func anyKeyMayHaveNoName() throws {
        #expect(try verifier.verify(token(header: #"{"alg":"ES256"}"#), now: Self.now).subject == "user-1")
        let others = try (0..<4).map { _ in JSONWebKey(.p256(try P256PrivateKey.generate().publicKey)) }
        func several(after count: Int) -> PlatformIdentityVerifier {
            PlatformIdentityVerifier(keys: [
                "https://roku.example": JSONWebKeySet(
                    keys: [JSONWebKey(.rsa(rsa.publicKey))] + others.prefix(count) + [JSONWebKey(.p256(elliptic.publicKey))])
            ])
        }
        for header in [#"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":"nobody-publishes-names"}"#] {
            #expect(try several(after: 3).verify(token(header: header), now: Self.now).subject == "user-1")
            #expect(throws: TokenRejection.invalidSignature) { try several(after: 4).verify(token(header: header), now: Self.now) }
        }
    }

    @Test(
        "RFC 7519 §2: times may have a fraction; exp ends early, nbf begins late, beyond 2^53 and as text they are none",
        arguments: [
            (#"1930384801.999"#, #"1930384800"#, nil), ("1.930384801e9", "0", nil), ("1930384860", "1930384860.0", nil),
            ("1930384800.9", "0", TokenRejection.expired), ("1930384900", "1930384860.000000001", .notYetValid), ("1e16", "0", .malformed),
            ("9007199254740993", "0", .malformed), ("1e400", "0", .malformed), (#""1930384900""#, "0", .malformed),
            ("1930384900", "1e99999999999999999999", .malformed),
            ("1930384900", "1e-99999999999999999999", nil), ("1930384900", #""0""#, .malformed), ("1930384900", "-1.5", nil), ("-0.0", "0", .expired),
            ("1930384900", "01", .malformed), ("true", "0", .malformed),
        ] as [(String, String, TokenRejection?)])
    func readsTimes(end: String, start: String, rejection: TokenRejection?) throws {
        let text = try token(times: #""exp":\#(end),"nbf":\#(start)"#)
        if let rejection {
            #expect(throws: rejection) { try verifier.verify(text, now: Self.now) }
        } else {
            #expect(try verifier.verify(text, now: Self.now).subject == "user-1")
        }
    }

    private static let secret = Array("thirty-two octets of a secret, it".utf8)

    private func signed(_ header: String = #"{"alg":"HS256"}"#, secret: [UInt8] = Self.secret, issuer: String = "https://fire.example") throws
        -> String
    {
        try token(header: header, issuer: issuer) { Self.hmac($0, secret) }
    }

    /// RFC 2104, spelled out, for secrets of at most 64 octets.
    private static func hmac(_ bytes: [UInt8], _ secret: [UInt8]) -> [UInt8] {
        let key = secret + [UInt8](repeating: 0, count: 64 - secret.count)
        return SHA256.hash(key.map { $0 ^ 0x5c } + SHA256.hash(key.map { $0 ^ 0x36 } + bytes))
    }

    @Test("rest-v2 §1.3, RFC 7518 §3.2: an issuer whose record says HS256 signs with the secret of the record, and with nothing else")
    func sharedSecrets() throws {
        let trust = try #require(PlatformIdentityTrust(.secret(Self.secret)))
        let verifier = PlatformIdentityVerifier(trusts: ["https://fire.example": trust])
        #expect(try verifier.verify(signed(), now: Self.now).subject == "user-1")
        #expect(try verifier.verify(signed(#"{"alg":"HS256","typ":"JWT","kid":"any"}"#), now: Self.now).subject == "user-1")
        let cases: [(String, TokenRejection)] = [
            (try signed(secret: Array("another secret, of as many octets".utf8)), .invalidSignature),
            (try signed(#"{"alg":"none"}"#), .wrongAlgorithm), (try signed(#"{"alg":"HS512"}"#), .wrongAlgorithm),
            (try token(issuer: "https://fire.example"), .wrongAlgorithm), (try signed(#"{"alg":"HS256","crit":["x"]}"#), .wrongType),
            (try signed() + "A", .invalidSignature), (try signed() + "!", .malformed), (try signed(issuer: "https://roku.example"), .wrongIssuer),
        ]
        for (text, rejection) in cases { #expect(throws: rejection, "\(text)") { try verifier.verify(text, now: Self.now) } }
        // The classic confusion: the record's public key as the secret.
        let confused = try signed(#"{"alg":"HS256","kid":"r1"}"#, secret: SHA256.hash(try rsa.publicKey.pem()), issuer: "https://apple.example")
        #expect(throws: TokenRejection.wrongAlgorithm) { try self.verifier.verify(confused, now: Self.now) }
        #expect(PlatformIdentityTrust(.secret(Array(Self.secret.prefix(31)))) == nil)
    }

    /// A compact JWE whose content key is 32 octets: the seal of this system is A256GCM.
    private func encrypted(
        _ inside: String, _ key: SymmetricKey, header: String = #"{"alg":"dir","enc":"A256GCM","cty":"JWT"}"#, block: [UInt8] = []
    ) throws -> String {
        let context = Base64.url.encode(Array(header.utf8))
        let sealed = try AESGCM.seal(Array(inside.utf8), key: key, context: Array(context.utf8))
        let parts = [block, Array(sealed.prefix(12)), Array(sealed.dropFirst(12).dropLast(16)), Array(sealed.suffix(16))]
        return ([context] + parts.map(Base64.url.encode)).joined(separator: ".")
    }

    @Test("RFC 7516: tokens inside a JWE by dir or RSA-OAEP-256 with A256GCM, as the issuer's record says")
    func encryptedTokens() throws {
        let octets = SecureRandom.bytes(32)
        let key = try SymmetricKey(bytes: octets)
        let direct = try #require(PlatformIdentityTrust.Encryption(.direct(octets), .a256GCM))
        let wrapped = try #require(PlatformIdentityTrust.Encryption(.rsa(rsa), .a256GCM))
        let verifier = PlatformIdentityVerifier(trusts: [
            "https://fire.example": try #require(PlatformIdentityTrust(.secret(Self.secret), encryption: direct)),
            "https://roku.example": try #require(
                PlatformIdentityTrust(.keys(JSONWebKeySet(keys: [JSONWebKey(.p256(elliptic.publicKey), identifier: "e1")])), encryption: wrapped)),
        ])
        #expect(try verifier.verify(encrypted(signed(), key), now: Self.now).issuer == "https://fire.example")
        let block = try rsa.publicKey.encrypt(octets, padding: .oaepSHA256)
        let header = #"{"alg":"RSA-OAEP-256","enc":"A256GCM"}"#
        #expect(try verifier.verify(encrypted(token(), key, header: header, block: block), now: Self.now).issuer == "https://roku.example")
        let other = try SymmetricKey(bytes: SecureRandom.bytes(32))
        let cases: [(String, TokenRejection)] = [
            (try encrypted(signed(), other), .invalidSignature), (try signed(), .wrongType), (try token(), .wrongType),
            (try encrypted(token(), key), .wrongIssuer), (try encrypted(signed(), key, header: header, block: block), .wrongIssuer),
            (try encrypted(token(), key, header: header, block: Array(block.reversed())), .invalidSignature),
            (try encrypted(signed(), key, header: #"{"alg":"dir","enc":"A128GCM"}"#), .wrongAlgorithm),
            (try encrypted(signed(), key, header: #"{"alg":"RSA1_5","enc":"A256GCM"}"#, block: block), .wrongAlgorithm),
            (try encrypted(signed(), key, header: #"{"alg":"dir","enc":"A256GCM","zip":"DEF"}"#), .wrongType),
            (try encrypted(signed(), key, header: #"{"alg":"dir","enc":"A256GCM","crit":["b64"]}"#), .wrongType),
            (try encrypted(signed(), key, header: #"{"alg":"dir","enc":"A256GCM"}"#, block: [1]), .wrongAlgorithm),
            (try encrypted("not a token", key), .malformed), (try encrypted(encrypted(signed(), key), key), .malformed),
            (try encrypted(signed(secret: Array("another secret, of as many octets".utf8)), key), .invalidSignature), ("a.b.c.d.e", .malformed),
            (try encrypted(signed() + String(repeating: "A", count: 16_384), key), .malformed),
        ]
        for (text, rejection) in cases { #expect(throws: rejection) { try verifier.verify(text, now: Self.now) } }
    }

    @Test("RFC 7518 §5.3: A128GCM opens what another implementation sealed; keys of other lengths are none")
    func shorterContentKeys() throws {
        #expect(PlatformIdentityTrust.Encryption(.direct(SecureRandom.bytes(32)), .a128GCM) == nil)
        #expect(PlatformIdentityTrust.Encryption(.direct(SecureRandom.bytes(16)), .a256GCM) == nil)
        let direct = try #require(PlatformIdentityTrust.Encryption(.direct(Array(0..<16)), .a128GCM))
        let verifier = PlatformIdentityVerifier(trusts: [
            "https://fire.example": try #require(PlatformIdentityTrust(.secret(Self.secret), encryption: direct))
        ])
        #expect(try verifier.verify(Self.foreign, now: Self.now).subject == "user-1")
    }

    private static let foreign =
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..ZGVmZ2hpamtsbW5v.fxsEzblF25PUVx1Z07Bi3X7hMsa8zKQQhAyC2tW9nrnVmBp2_Htd_vwUFRz94SlSrsdFG_Vk"
        + "GWqw1FIUv9cLLlXDe0Sa_vzcXf1mm0amYjul-09chb97zQxVKO2OPaQQDgAIGuePwVvqmJiPauaiA3C34HznXEe6G0TekdJQLSfjUsYU1Ikc_m9AF29Rb1EUs82qkrczSC"
        + "z4YLXoGDBKFYpI8dITxLk.FrPTLiLer7CbQlBv-coAXg"

    @Test(
        "RFC 8259: header and claims are read to the letter, and a member that occurs twice is refused (RFC 7519 §4)",
        arguments: [
            (#"{"alg":"ES256","kid":"e1",}"#, ""), (#"{"alg":"ES256","kid":"e1","alg":"ES256"}"#, ""), (#"{"alg":"ES256","kid":1}"#, ""),
            (#"{"alg":"ES256","kid":"e1"}"#, #","a":[1,]"#), (#"{"alg":"ES256","kid":"e1"}"#, #","a":-01"#),
            (#"{"alg":"ES256","kid":"e1"}"#, #","a":"\ud800""#),
            (#"{"alg":"ES256","kid":"e1"}"#, #","sub":"user-2""#), (#"{"alg":"ES256","kid":"e1"}"#, #","\u0073ub":"user-2""#),
            (#"{"alg":"ES256","kid":"e1"}"#, ",\"a\":\"\n\""),
        ])
    func readsStrictly(header: String, further: String) throws {
        let text = try token(header: header, further: further)
        #expect(throws: TokenRejection.malformed) { try verifier.verify(text, now: Self.now) }
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
        audience: String = #""adobe""#, expiry: Int64? = nil, times: String? = nil, further: String = "", sign: (([UInt8]) throws -> [UInt8])? = nil
    ) throws -> String {
        let claims =
            #"{"iss":"\#(issuer)","sub":"\#(subject)","aud":\#(audience),\#(times ?? #""exp":\#(expiry ?? Self.now.seconds + 60)"#)\#(further)}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        let bytes = Array(input.utf8)
        return input + "." + Base64.url.encode(try sign.map { try $0(bytes) } ?? elliptic.sign(bytes))
    }
}
