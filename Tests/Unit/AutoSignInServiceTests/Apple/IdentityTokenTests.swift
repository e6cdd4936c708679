@testable import AutoSignInService
import Clocks
import Cryptography
import Testing

@Suite("Identity tokens of Apple")
struct IdentityTokenTests {
    private static let verifier = IdentityTokenVerifier(keys: TokenMaker.keySet)

    private func verify(
        _ token: String, nonce: String? = TokenMaker.nonce, code: String? = nil, accessToken: String? = nil, at now: Timestamp = TokenMaker.now
    ) throws(IdentityTokenRejection) -> VerifiedIdentityToken {
        let expected = IdentityTokenExpectation(clientID: TokenMaker.clientID, nonce: nonce, code: code, accessToken: accessToken)
        return try Self.verifier.verify(token, expecting: expected, now: now)
    }

    private func rejection(_ maker: TokenMaker, nonce: String? = TokenMaker.nonce, at now: Timestamp = TokenMaker.now) throws
        -> IdentityTokenRejection?
    {
        let token = try maker.token()
        do throws(IdentityTokenRejection) {
            _ = try verify(token, nonce: nonce, at: now)
            return nil
        } catch {
            return error
        }
    }

    private func rejection(of token: String) -> IdentityTokenRejection? {
        do throws(IdentityTokenRejection) {
            _ = try verify(token)
            return nil
        } catch {
            return error
        }
    }

    @Test("a good token gives its subject, and all that Apple says of the person")
    func acceptsGoodToken() throws {
        let verified = try verify(TokenMaker().with("transfer_sub", "\"T.1\"").with("is_private_email", "true").token())
        #expect(verified.subject == TokenMaker.subject)
        #expect(verified.clientID == TokenMaker.clientID)
        #expect(verified.nonceStanding == .matched)
        #expect(verified.email == AppleEmail(address: "ada@example.org", isVerified: true, isPrivate: true))
        #expect(verified.realUserStatus == .likelyReal)
        #expect(verified.transferSubject == "T.1")
    }

    @Test("apple V1: anything but three base64url parts with two objects is malformed")
    func refusesOtherForms() throws {
        let good = try TokenMaker().token()
        let parts = good.split(separator: ".").map(String.init)
        let header = #"{"kid":"\#(TokenMaker.keyName)","alg":"RS256"}"#
        var bad = [
            "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])", good + ".", good + "." + parts[2], good + "=", " " + good, good + "\n",
            "\(parts[0]).\(parts[1])=.\(parts[2])", good.replacingFirst("_", by: "/"), "\(parts[1]).\(parts[0])",
        ]
        for payload in [
            "[]", "\"text\"", "1", "null", "{", "{}x", "{\"iss\":\"a\",}", "{\"iss\":\"a\" \"b\":1}", "\u{feff}{}", "{\"a\":01}", "{\"a\":\"\u{1}\"}",
        ] {
            bad.append(try TokenMaker.token(header: header, payload: payload, key: TokenMaker.keys[0]))
        }
        bad.append(try TokenMaker.token(header: "[]", payload: "{}", key: TokenMaker.keys[0]))
        for token in bad where token != good { #expect(rejection(of: token) != nil, "\(token)") }
        for payload in ["[]", "1", "{", "{}x"] {
            #expect(rejection(of: try TokenMaker.token(header: header, payload: payload, key: TokenMaker.keys[0])) == .malformed)
        }
    }

    @Test("apple V1: a member that occurs twice is malformed, in the header, the claims, below them, and under an escaped name")
    func refusesDuplicates() throws {
        let header = TokenMaker.object(TokenMaker().header)
        let claims = TokenMaker.object(TokenMaker().claims)
        let payloads = [
            claims.dropLast() + #","sub":"other"}"#, claims.dropLast() + #","\u0073ub":"other"}"#,
            claims.dropLast() + #","extra":[{"a":1,"a":1}]}"#,
        ]
        var twice = payloads.map { (header, String($0)) }
        twice.append((String(header.dropLast() + #","alg":"none"}"#), claims))
        for (header, claims) in twice {
            #expect(rejection(of: try TokenMaker.token(header: header, payload: claims, key: TokenMaker.keys[0])) == .malformed)
        }
    }

    @Test("apple V1: 8 KiB are read, one byte more is not")
    func limitsSize() throws {
        func token(_ filling: Int) throws -> String {
            try TokenMaker().with("filling", "\"\(String(repeating: "x", count: filling))\"").token()
        }
        let longest = try #require((4_000..<6_500).last { (try? token($0).utf8.count) ?? 0 <= 8_192 && $0 % 3 == 0 })
        #expect(rejection(of: try token(longest)) == nil)
        #expect(rejection(of: try token(longest + 6)) == .malformed)
    }

    @Test("RFC 7515 §4.1.11: a token whose header names extensions that must be understood is refused")
    func refusesCriticalExtensions() throws {
        #expect(try rejection(TokenMaker().withHeader("crit", "[\"exp\"]")) == .malformed)
    }

    @Test(
        "apple #38: any algorithm but RS256 is refused",
        arguments: ["\"none\"", "\"None\"", "\"HS256\"", "\"ES256\"", "\"PS256\"", "\"rs256\"", "1", nil])
    func refusesAlgorithms(algorithm: String?) throws {
        #expect(try rejection(TokenMaker().withHeader("alg", algorithm)) == .algorithm)
    }

    @Test("apple #38: a key that the token brings along is not used")
    func ignoresKeysInHeader() throws {
        let own = TokenMaker.keys[1]
        let jwk = String(decoding: TokenMaker.document([("own", own.publicKey)]), as: UTF8.self)
        #expect(try rejection(TokenMaker().signed(by: own).withHeader("jwk", jwk)) == .signature)
        #expect(try rejection(TokenMaker().signed(by: own).withHeader("jwk", jwk).withHeader("kid", "\"own\"")) == .unknownKey)
    }

    @Test("apple V3: a name that is not published, or none, is unknown")
    func refusesUnknownKeys() throws {
        for name in ["\"other\"", "\"\"", "7", nil] { #expect(try rejection(TokenMaker().withHeader("kid", name)) == .unknownKey) }
    }

    @Test("apple V4: another key's signature, none, and one by a weak key are refused")
    func refusesSignatures() throws {
        #expect(try rejection(TokenMaker().signed(by: TokenMaker.keys[1])) == .signature)
        let token = try TokenMaker().token()
        let cut = String(token[...(try token.lastIndex(of: ".").unwrapped())])
        #expect(rejection(of: cut) == .signature)
        let weak = IdentityTokenVerifier(keys: AppleKeySet([TokenMaker.keyName: .weak]))
        #expect(throws: IdentityTokenRejection.signature) {
            try weak.verify(
                token, expecting: IdentityTokenExpectation(clientID: TokenMaker.clientID, nonce: TokenMaker.nonce), now: TokenMaker.now)
        }
    }

    @Test("apple #41: wrong issuer, foreign audience and the end of the token have a code each")
    func checksClaims() throws {
        for issuer in [
            "\"https://appleid.apple.com/\"", "\"appleid.apple.com\"", "\"HTTPS://appleid.apple.com\"", "[\"https://appleid.apple.com\"]", nil,
        ] {
            #expect(try rejection(TokenMaker().with("iss", issuer)) == .issuer)
        }
        for audience in ["\"example.acme.radio\"", "\"Example.acme.tv\"", "[\"example.acme.tv\"]", "[\"example.acme.tv\",\"x\"]", nil] {
            #expect(try rejection(TokenMaker().with("aud", audience)) == .audience)
        }
        let now = TokenMaker.now.seconds
        #expect(try rejection(TokenMaker().with("exp", "\(now)")) == .expired)
        #expect(try rejection(TokenMaker().with("exp", "\(now + 1)")) == nil)
        // RFC 7519 §2: a time may have a fraction, which gives no longer life.
        for end in ["\(now + 1).0", "\(now + 1).999", "1930384801e0"] { #expect(try rejection(TokenMaker().with("exp", end)) == nil) }
        #expect(try rejection(TokenMaker().with("iat", "\(now + 60).9")) == nil)
        for end in ["\"\(now + 1)\"", "\(now).9", "1e12", "1e400", nil] { #expect(try rejection(TokenMaker().with("exp", end)) == .expired) }
        #expect(try rejection(TokenMaker().with("iat", "\(now + 60)")) == nil)
        #expect(try rejection(TokenMaker().with("iat", "\(now + 61)")) == .expired)
        #expect(try rejection(TokenMaker().with("iat", nil)) == .expired)
    }

    @Test("apple #42: a token without the nonce is refused where nonces are supported")
    func requiresNonce() throws {
        let without = TokenMaker(nonce: nil)
        #expect(try rejection(without) == .nonce)
        #expect(try rejection(without.with("nonce_supported", "\"true\"")) == .nonce)
        #expect(try rejection(without.with("nonce_supported", "\"perhaps\"")) == .nonce)
        #expect(try rejection(TokenMaker(nonce: "another")) == .nonce)
        #expect(try rejection(TokenMaker().with("nonce", "null")) == .nonce)
        // Without a live nonce a caller is refused, independent of the token.
        #expect(try rejection(TokenMaker(), nonce: nil) == .nonce)
        #expect(try rejection(without.with("nonce_supported", "false"), nonce: nil) == .nonce)
    }

    @Test("a device that supports no nonce is told apart", arguments: ["false", "\"false\"", nil])
    func tellsUnsupportedNonce(supported: String?) throws {
        let verified = try verify(TokenMaker(nonce: nil).with("nonce_supported", supported).token())
        #expect(verified.nonceStanding == .unsupported)
    }

    @Test("apple V9: a subject has 1 to 255 characters")
    func checksSubject() throws {
        for subject in ["\"\"", "7", "null", "\"\(String(repeating: "s", count: 256))\"", "\"a\\u0000b\"", nil] {
            #expect(try rejection(TokenMaker().with("sub", subject)) == .subject)
        }
        #expect(try rejection(TokenMaker().with("sub", "\"\(String(repeating: "s", count: 255))\"")) == nil)
        #expect(try rejection(TokenMaker().with("sub", "\"\(String(repeating: "é", count: 255))\"")) == nil)
    }

    @Test("c_hash and at_hash count where they are and something is at hand")
    func checksHashes() throws {
        let hashed = TokenMaker().with("c_hash", "\"\(TokenMaker.hash("code"))\"").with("at_hash", "\"\(TokenMaker.hash("access"))\"")
        let token = try hashed.token()
        _ = try verify(token)
        _ = try verify(token, code: "code", accessToken: "access")
        #expect(throws: IdentityTokenRejection.foreignGrant) { try verify(token, code: "other") }
        #expect(throws: IdentityTokenRejection.foreignGrant) { try verify(token, accessToken: "other") }
        #expect(throws: IdentityTokenRejection.foreignGrant) { try verify(TokenMaker().with("c_hash", "1").token(), code: "code") }
        _ = try verify(TokenMaker().token(), code: "code", accessToken: "access")
    }

    @Test("apple #45: Booleans as strings are read alike, and a missing e-mail is no obstacle")
    func readsBooleans() throws {
        for (text, isVerified) in [("\"true\"", true), ("true", true), ("\"false\"", false), ("false", false), ("\"yes\"", false), ("1", false)] {
            #expect(try verify(TokenMaker().with("email_verified", text).token()).email?.isVerified == isVerified)
        }
        for email in ["\"\"", "\"nobody\"", "7", nil] { #expect(try verify(TokenMaker().with("email", email).token()).email == nil) }
    }

    @Test("unknown claims and members of the header are ignored")
    func ignoresUnknown() throws {
        let maker = TokenMaker().with("org_id", "{\"a\":[1,{\"b\":null}]}").with("auth_time", "-1.5e3").withHeader("typ", "\"JWT\"")
        #expect(try rejection(maker) == nil)
    }

    @Test("of two mistakes the earlier check decides")
    func keepsOrder() throws {
        let now = TokenMaker.now.seconds
        // From the last check to the first: each step adds an earlier mistake.
        var maker = TokenMaker().with("sub", "\"\"")
        #expect(try rejection(maker) == .subject)
        maker = maker.with("nonce", "\"another\"")
        #expect(try rejection(maker) == .nonce)
        maker = maker.with("exp", "\(now)")
        #expect(try rejection(maker) == .expired)
        maker = maker.with("aud", "\"another\"")
        #expect(try rejection(maker) == .audience)
        maker = maker.with("iss", "\"another\"")
        #expect(try rejection(maker) == .issuer)
        maker = maker.signed(by: TokenMaker.keys[1])
        #expect(try rejection(maker) == .signature)
        maker = maker.withHeader("kid", "\"another\"")
        #expect(try rejection(maker) == .unknownKey)
        maker = maker.withHeader("alg", "\"ES256\"")
        #expect(try rejection(maker) == .algorithm)
        let twice = TokenMaker.object(maker.claims).dropLast() + #","iss":"x"}"#
        #expect(rejection(of: try TokenMaker.token(header: TokenMaker.object(maker.header), payload: String(twice), key: maker.key)) == .malformed)
    }

    @Test("each rejection has the code of its row")
    func namesCodes() {
        let codes = IdentityTokenRejection.allCases.map(\.code.rawValue)
        #expect(
            codes == [
                "apple_token_malformed", "apple_token_algorithm", "apple_key_unknown", "apple_token_signature", "apple_token_issuer",
                "apple_token_audience", "apple_token_expired", "apple_nonce_mismatch", "apple_token_subject", "apple_token_replayed",
                "apple_grant_invalid",
            ])
    }

    @Test("no changed byte of a good token is accepted")
    func refusesEveryMutation() throws {
        let token = Array(try TokenMaker().token().utf8)
        for place in token.indices {
            for change: UInt8 in [1, 2, 0x20, 0x80] {
                var changed = token
                changed[place] ^= change
                #expect(rejection(of: String(decoding: changed, as: UTF8.self)) != nil, "byte \(place), bits \(change)")
            }
        }
    }

    @Test("no shortened, lengthened or recombined good token is accepted")
    func refusesCutsAndSplices() throws {
        let token = try TokenMaker().token()
        for length in 0..<token.utf8.count { #expect(rejection(of: String(token.prefix(length))) != nil) }
        let parts = token.split(separator: ".").map(String.init)
        let other = try TokenMaker(subject: "another").token().split(separator: ".").map(String.init)
        #expect(rejection(of: "\(parts[0]).\(other[1]).\(parts[2])") == .signature)
        #expect(rejection(of: "\(parts[0]).\(parts[1]).\(other[2])") == .signature)
        for place in parts.indices {
            for insertion in ["A", "AA", "AAAA", "-", "\u{0}"] {
                var changed = parts
                changed[place] += insertion
                #expect(rejection(of: changed.joined(separator: ".")) != nil)
            }
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ character: Character, by other: Character) -> String {
        guard let place = firstIndex(of: character) else { return self }
        return String(self[..<place]) + String(other) + String(self[index(after: place)...])
    }
}

extension Optional {
    /// For what a test has just made sure of.
    fileprivate func unwrapped() throws -> Wrapped { try #require(self) }
}
