import AutoSignInService
import Foundation
import Testing

@Suite("Settings of autosignin")
struct SettingsTests {
    private func read(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> AutoSignInSettings {
        var object: [String: Any] = [
            "sealKey": "seal.key", "secrets": "pki", "callbackURL": "https://tv.example/apple/v1/callback",
            "devicesURL": "https://tv.example/devices",
        ]
        change(&object)
        return try JSONDecoder().decode(AutoSignInSettings.self, from: JSONSerialization.data(withJSONObject: object))
    }

    @Test("Apple's own servers and the documented limits count unless others are set")
    func defaults() throws {
        let settings = try read()
        #expect(settings.apple == AppleAddresses() && settings.apple.unencryptedKey == nil)
        #expect(settings.apple.storeKit(.production) == "https://api.storekit.itunes.apple.com")
        #expect(settings.apple.storeKit(.sandbox) == "https://api.storekit-sandbox.itunes.apple.com")
        #expect(settings.redeemsPerMinute == 10 && settings.familiesPerAccount == 20 && settings.cached == 65_536)
    }

    @Test("an address that is not HTTPS is named, so that only a stand-in is reached without")
    func unencrypted() throws {
        let settings = try read {
            $0["apple"] = [
                "identityURL": "https://appleid.example", "productionURL": "http://127.0.0.1:8091/storekit", "sandboxURL": "https://s.example",
            ]
        }
        #expect(settings.apple.unencryptedKey == "productionURL")
    }

    @Test(
        "what cannot work is refused",
        arguments: [
            ("callbackURL", "apple.example"), ("devicesURL", "ftp://apple.example"), ("devicesURL", "https://user@apple.example"), ("sealKey", ""),
        ])
    func refusesTexts(key: String, text: String) {
        #expect(throws: DecodingError.self) { try read { $0[key] = text } }
    }

    private static func address(octets: Int) -> String {
        let host = "https://tv.example/"
        return host + String(repeating: "a", count: octets - host.utf8.count)
    }

    @Test("an address has at most 2048 octets")
    func longestAddress() throws {
        #expect(try read { $0["callbackURL"] = Self.address(octets: 2048) }.callbackURL == Self.address(octets: 2048))
        #expect(throws: DecodingError.self) { try read { $0["callbackURL"] = Self.address(octets: 2049) } }
    }

    @Test("a limit out of its range is refused", arguments: ["redeemsPerMinute", "familiesPerAccount", "cached"])
    func refusesNumbers(key: String) {
        #expect(throws: DecodingError.self) { try read { $0[key] = 0 } }
    }

    @Test("a base address with a slash at its end is refused")
    func refusesSlash() {
        #expect(throws: DecodingError.self) {
            try read { $0["apple"] = ["identityURL": "https://a.example/", "productionURL": "https://b.example", "sandboxURL": "https://c.example"] }
        }
    }
}
