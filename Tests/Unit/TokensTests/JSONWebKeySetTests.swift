import Cryptography
import Testing
import Tokens

/// Key sets as other parties publish them.
@Suite("Key sets")
struct JSONWebKeySetTests {
    private static let rsa = try? RSAPrivateKey.generate()
    private let numbers: String
    private let point: String

    init() throws {
        let key = try #require(Self.rsa).publicKey
        numbers = #""n":"\#(Base64.url.encode(key.modulus))","e":"\#(Base64.url.encode(key.exponent))""#
        let (x, y) = try P256PrivateKey.generate().publicKey.coordinates
        point = #""x":"\#(Base64.url.encode(x))","y":"\#(Base64.url.encode(y))""#
    }

    @Test("RFC 7517 §5: each entry is read by itself, and what cannot be used is skipped")
    func skips() throws {
        let good = #"{"kty":"RSA","kid":"good","use":"sig","alg":"RS256",\#(numbers)}"#
        let odd = [
            "null", "7", "[]", "{}", #"{"kid":"a"}"#, #"{"kty":null,"kid":"a"}"#, #"{"kty":"RSA","kid":7,\#(numbers)}"#, #"{"kty":"RSA","kid":"a"}"#,
            #"{"kty":"RSA","kid":"a","n":7,"e":"AQAB"}"#, #"{"kty":"RSA","kid":"a","n":"!","e":"AQAB"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#,
            #"{"kty":"EC","crv":"P-521","kid":"a","x":"AA","y":"AA"}"#, #"{"kty":"EC","crv":"P-256","kid":"a","x":"AA","y":"AA"}"#,
            #"{"kty":"EC","kid":"a",\#(point)}"#, #"{"kty":"oct","kid":"a","k":"AA"}"#, #"{"kty":"RSA","kid":"a","alg":"RS512",\#(numbers)}"#,
            #"{"kty":"RSA","kid":"a","alg":7,\#(numbers)}"#, #"{"kty":"RSA","kid":"a","use":"enc",\#(numbers)}"#,
            #"{"kty":"RSA","kid":"a","use":[],\#(numbers)}"#,
            #"{"kty":"RSA","kid":"a","key_ops":["encrypt"],\#(numbers)}"#, #"{"kty":"RSA","kid":"a","key_ops":"verify",\#(numbers)}"#,
            #"{"kty":"RSA","kid":"a","alg":"ES256",\#(numbers)}"#, #"{"kty":"EC","crv":"P-256","kid":"a","alg":"RS256",\#(point)}"#,
            #"{"kty":"RSA","kid":"a","kid":"a",\#(numbers)}"#,
        ]
        for entry in odd {
            for list in [[entry, good], [good, entry]] {
                let set = try JSONWebKeySet(published: #"{"keys":[\#(list.joined(separator: ","))]}"#)
                #expect(set.keys.map(\.identifier) == ["good"], "\(entry)")
            }
        }
        let set = try JSONWebKeySet(published: #"{"issuer":7,"keys":[\#((odd + [good]).joined(separator: ","))]}"#)
        #expect(set.keys.count == 1)
    }

    @Test("null members count as absent, and what may be said of a good key is taken")
    func takes() throws {
        for members in [#""kid":null,"alg":null,"use":null"#, #""key_ops":["verify"],"x5c":["AA"]"#, #""key_ops":["sign","verify"],"ext":true"#] {
            #expect(try JSONWebKeySet(published: #"{"keys":[{"kty":"RSA",\#(numbers),\#(members)}]}"#).keys.count == 1, "\(members)")
        }
    }

    @Test(
        "a text that is no key set is refused as such, and read to the letter of RFC 8259",
        arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],}"#, #"{"keys":[],"keys":[]}"#, #"{"keys":[-01]}"#])
    func refuses(text: String) {
        #expect(throws: CryptographyError.self) { try JSONWebKeySet(published: text) }
        #expect(throws: CryptographyError.self) { try JSONWebKeySet(json: text) }
    }

    @Test("RFC 7517 §4.5: several keys of one name are all found, in their order")
    func severalOfOneName() throws {
        let entries =
            ["RS512", "PS256", "RS256"].map { #"{"kty":"RSA","kid":"k1","alg":"\#($0)",\#(numbers)}"# } + [
                #"{"kty":"EC","crv":"P-256","kid":"k1",\#(point)}"#
            ]
        let set = try JSONWebKeySet(published: #"{"keys":[\#(entries.joined(separator: ","))]}"#)
        #expect(set.keys(named: "k1").map(\.algorithm) == [.ps256, .rs256, .es256])
    }
}
