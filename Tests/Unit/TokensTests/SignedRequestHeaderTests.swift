import Cryptography
import Testing
import Tokens

@Suite struct SignedRequestHeaderTests {
    private static let signature: String = Base64.standard.encode([UInt8](repeating: 7, count: 20))

    private static func whole(_ head: String, tail: String? = nil) -> String {
        head + (tail ?? ", public_key=abcdefgh12345678, signature=\(signature)")
    }

    private static let asUsual: String =
        "GET requestor_id=ACME1, nonce=9f3c-1, signature_method=HMAC-SHA1, request_time=1764100000123, request_uri=/authorize"

    @Test("as each client is seen to write it")
    func usual() throws {
        let header = try #require(SignedRequestHeader(Self.whole(Self.asUsual)))
        #expect(header.method == "GET" && header.requestorID == "ACME1" && header.nonce == "9f3c-1" && header.requestURI == "/authorize")
        #expect(header.time == 1_764_100_000_123 && header.publicKey == "abcdefgh12345678" && header.signature.count == 20)
        #expect(header.signedText == Self.asUsual)
    }

    @Test("clients #3: a whole address with commas and equals signs is one field")
    func wholeAddress() throws {
        let uri = "https://tv.example/api/v1/authorize?resource=<rss a=\"1\">x,y,z</rss>&requestor=ACME1"
        let text = Self.asUsual.replacing("/authorize", with: uri)
        let header = try #require(SignedRequestHeader(Self.whole(text)))
        #expect(header.requestURI == uri && header.signedText == text)
    }

    @Test("clients #7: ten digits are seconds")
    func seconds() {
        #expect(SignedRequestHeader(Self.whole(Self.asUsual.replacing("1764100000123", with: "1764100000")))?.time == 1_764_100_000_000)
    }

    @Test("further blanks and another order of the fields")
    func blanksAndOrder() throws {
        let text = "POST  request_uri=/regcode,request_time=1764100000123,  nonce=n , signature_method=HMAC-SHA1, requestor_id=ACME1"
        let header = try #require(SignedRequestHeader(Self.whole(text, tail: " ,  public_key=abcdefgh , signature= \(Self.signature) ")))
        #expect(header.method == "POST" && header.nonce == "n" && header.requestorID == "ACME1" && header.publicKey == "abcdefgh")
        #expect(header.signedText == text + " ")
    }

    @Test(
        "clients #6: what is cut, doubled, huge or of another method is none",
        arguments: [
            whole(asUsual, tail: ""), whole(asUsual, tail: ", public_key=abcdefgh"), whole(asUsual, tail: ", public_key=abcdefgh, signature=!"),
            whole(asUsual, tail: ", public_key=abcdefgh, signature=AAAA"), whole(asUsual, tail: ", public_key=short, signature=\(signature)"),
            whole(asUsual, tail: ", public_key=abcdefgh, public_key=abcdefgh, signature=\(signature)"),
            whole(asUsual.replacing("HMAC-SHA1", with: "HMAC-SHA256")), whole(asUsual.replacing("GET", with: "get")),
            whole(asUsual.replacing("GET", with: "PUT")), whole(asUsual.replacing("1764100000123", with: "-176410000012")),
            whole(asUsual.replacing("1764100000123", with: "17641000001231764100")), whole(asUsual.replacing("nonce=9f3c-1, ", with: "")),
            whole(asUsual + ", nonce=again"), whole(asUsual.replacing("ACME1", with: "")), whole(asUsual.replacing("/authorize", with: "/\u{7}")),
            whole(asUsual + String(repeating: "x", count: 8192)), "GET", "GET ", "GET public_key=",
        ])
    func refused(_ header: String) {
        #expect(SignedRequestHeader(header) == nil)
    }

    @Test("a bearer is none, and means to be none")
    func bearer() {
        #expect(!SignedRequestHeader.isMeant("Bearer GET requestor_id=x") && !SignedRequestHeader.isMeant("GETrequestor_id=x"))
        #expect(SignedRequestHeader.isMeant("DELETE requestor_id=x"))
    }

    @Test("HMAC with SHA-1 as RFC 2202 has it")
    func code() {
        let code = HMACSHA1.authenticate(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(Hex.encode(code) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    }
}
