import ConfigService
import Cryptography
import Foundation
import Testing

/// The keys of software statements that the settings name.
@Suite struct StatementKeyTests {
    private static func settings(_ more: [String: Any]) throws -> ConfigSettings {
        let content: [String: Any] = ["catalogue": "catalogue.json", "statementKey": "now.key", "statementCallers": []]
        return try JSONDecoder().decode(ConfigSettings.self, from: JSONSerialization.data(withJSONObject: content.merging(more) { $1 }))
    }

    private static func texts() throws -> [String: String] {
        var texts = ["broken.key": "broken"]
        for name in ["now.key", "next.key", "older.key"] { texts[name] = try P256PrivateKey.generate().pem() }
        texts["oldest.pub"] = try P256PrivateKey.generate().publicKey.pem()
        return texts
    }

    @Test func oneKeyIsEnough() throws {
        let (settings, texts) = (try Self.settings([:]), try Self.texts())
        let keys = try settings.statementKeys { path, _ in try #require(texts[path]) }
        #expect(keys.next == nil && keys.older.isEmpty)
        #expect(settings.statementKeyFiles == ["now.key"] && settings.statementKeyLead == 60)
    }

    @Test func furtherOnesAreReadAndOneThatIsNoneIsNamed() throws {
        let texts = try Self.texts()
        let settings = try Self.settings(["nextStatementKey": "next.key", "olderStatementKeys": ["older.key", "oldest.pub"], "statementKeyLead": 0])
        let keys = try settings.statementKeys { path, _ in try #require(texts[path]) }
        #expect(keys.older.count == 2)
        #expect(Set([keys.current.identifier, try #require(keys.next).identifier] + keys.older.map(\.identifier)).count == 4)
        #expect(settings.statementKeyFiles == ["now.key", "next.key", "older.key", "oldest.pub"])
        let spoilt = try Self.settings(["olderStatementKeys": ["older.key", "broken.key"]])
        let problem = try #require(throws: StatementKeyError.self) {
            _ = try spoilt.statementKeys { path, _ in try #require(texts[path]) }
        }
        #expect(problem.key == "config.olderStatementKeys[1]" && problem.path == "broken.key")
        #expect(problem.reason.contains("public or private key"))
        let signer = try Self.settings(["statementKey": "oldest.pub"])
        #expect(throws: StatementKeyError.self, "a public key signs nothing") {
            _ = try signer.statementKeys { path, _ in try #require(texts[path]) }
        }
    }

    @Test(arguments: [-1, 86_401]) func aLeadOutOfRangeIsRefused(_ lead: Int) {
        #expect(throws: DecodingError.self) { _ = try Self.settings(["statementKeyLead": lead]) }
    }

    @Test func aCatalogueFileIsOptional() throws {
        let content: [String: Any] = ["statementKey": "now.key", "statementCallers": []]
        let settings = try JSONDecoder().decode(ConfigSettings.self, from: JSONSerialization.data(withJSONObject: content))
        #expect(settings.catalogue == nil)
    }
}
