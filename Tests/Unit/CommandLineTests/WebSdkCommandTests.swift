import Foundation
import Testing

@testable import AdministrationCommands
@testable import CommandKit

@Suite("boxoffice web-sdk")
struct WebSdkCommandTests {
    /// The hash of the empty text (FIPS 180-4), in both forms.
    private static let empty = (version: "e3b0c44298fc1c14", integrity: "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")

    @Test("web-sdk #2: the element names the address of the version and the hash that browsers check")
    func element() throws {
        let script = WebSdkScript(gateway: "https://tv.example", content: [])
        #expect(script.version == Self.empty.version && script.integrity == Self.empty.integrity)
        #expect(
            script.element
                == "<script src=\"https://tv.example/entitlement/v4/\(Self.empty.version)/AccessEnabler.js\" integrity=\"\(Self.empty.integrity)\" crossorigin=\"anonymous\"></script>"
        )
        let document = try #require(try JSONSerialization.jsonObject(with: Data(try script.json().utf8)) as? [String: String])
        #expect(document["newestAddress"] == "https://tv.example/entitlement/v4/AccessEnabler.js" && document["address"] == script.address)
    }
}
