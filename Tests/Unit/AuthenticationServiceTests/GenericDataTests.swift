import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct GenericDataTests {
    private static let digest = String(repeating: "0a", count: 32)

    @Test(
        "rest-v1 §3.21: a JSON object, with braces or round brackets",
        arguments: [
            #"{"email":"\#(digest)"}"#, #" { "email" : "\#(digest)", "other": [1] } "#, #"("email":"\#(digest)")"#,
            #"({"email":"\#(digest)"})"#, #"{"email":"\#(digest.uppercased())"}"#,
        ])
    func reads(_ text: String) throws {
        #expect(try GenericData.user(in: text, key: "email").text == Self.digest)
    }

    @Test(
        "Anything else names nobody",
        arguments: [
            "", " ", "{}", "()", "(", ")", "email", #""email""#, "[1]", #"{"email":""}"#, #"{"email":7}"#, #"{"Email":"x"}"#,
            #"{"email":"x","email":"y"}"#, #"{"email":"x""#, #"("email":"x"}"#, "{\"email\":\"" + String(repeating: "x", count: 5000) + "\"}",
        ])
    func refuses(_ text: String) throws {
        let fault = #expect(throws: Fault.self) { try GenericData.user(in: text, key: "email") }
        #expect(fault?.code == .invalidRequest)
    }

    @Test("A value that is no digest is hashed, so that no address is stored")
    func hashes() {
        // printf 'ada@acme.example' | sha256sum
        let hashed = TrialUser(identifier: "ada@acme.example")
        #expect(hashed.text == "2a1322415fff1b1aceaebe7855b2c5bd6e9efa5e787d46391f971aea65062ce3")
        #expect(TrialUser(identifier: hashed.text) == hashed)
        #expect(TrialUser(identifier: "abcd").text.count == 64)
        for length in [32, 40, 56, 64, 96, 128] {
            let digest = String(repeating: "f", count: length)
            #expect(TrialUser(identifier: digest).text == digest)
        }
    }
}
