import Foundation
import Testing
import TextEncodings

@Suite("Percent encoding")
struct PercentEncodingTests {
    @Test("all but the unreserved characters are escaped (RFC 3986 §2.3)")
    func encodes() {
        #expect(PercentEncoding.encode("aZ09-._~ +/=&?é") == "aZ09-._~%20%2B%2F%3D%26%3F%C3%A9")
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        for scalar in (0...0x2ff).compactMap(Unicode.Scalar.init) {
            let text = String(scalar)
            #expect(PercentEncoding.encode(text) == text.addingPercentEncoding(withAllowedCharacters: unreserved))
        }
    }

    @Test("what was encoded is read back; a plus is a space in forms alone")
    func decodes() {
        let text = "ü+/ %&=\u{1F600}\n"
        #expect(PercentEncoding.decode(PercentEncoding.encode(text).utf8, plusIsSpace: true) == text)
        #expect(PercentEncoding.decode("a+b%2b".utf8, plusIsSpace: true) == "a b+")
        #expect(PercentEncoding.decode("a+b%2B".utf8, plusIsSpace: false) == "a+b+")
    }

    @Test("broken escapes, NUL and what is not UTF-8 are refused", arguments: ["%", "%4", "%4g", "%g4", "%00", "%ff", "a%c3", "\0"])
    func refuses(text: String) {
        #expect(PercentEncoding.decode(text.utf8, plusIsSpace: true) == nil)
    }

    @Test("a form's fields")
    func form() {
        #expect(FormEncoding.encode([("username", "a b&c"), ("password", "ü+"), ("", "=")]) == "username=a%20b%26c&password=%C3%BC%2B&=%3D")
        #expect(FormEncoding.encode([]).isEmpty)
    }
}
