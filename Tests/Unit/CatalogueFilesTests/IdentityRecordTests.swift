import CatalogueSamples
import Contracts
import Testing

/// clients §2, §2.1: the rules for records of identities from another system.
struct IdentityRecordTests {
    private static let digest = String(repeating: "0a", count: 32)

    private func world(_ members: String) throws -> CatalogueFolder {
        let world = try CatalogueFolder()
        try world.replace(#""scopes": ["api:client:v1"]"#, with: #""scopes": ["api:client:v1"], \#(members)"#)
        return world
    }

    @Test("a whole record is read with all its fields")
    func reads() throws {
        let world = try world(
            """
            "signingKeys": [{"publicKey": "abcdefgh12345678", "secret": "pair", "requestors": ["NEWS"], "enabled": false, "strict": true, "window": 300, \
            "from": "2026-01-01", "until": "2027-01-01"}], "legacyStatements": ["\(Self.digest)"], "clients": [{"clientId": "old", "secret": "client"}]
            """)
        let application = try #require(try world.file.read(now: CatalogueFolder.now).configuration.applications.first)
        let key = try #require(application.signingKeys.first)
        #expect(key.publicKey == "abcdefgh12345678" && key.secretReference == "pair" && key.requestorIDs == ["NEWS"])
        #expect(key.disabled && key.strict && key.windowSeconds == 300 && key.fromMilliseconds < key.untilMilliseconds)
        #expect(application.legacyStatements == [Self.digest] && application.clients == [ImportedClient(clientID: "old", secretReference: "client")])
    }

    @Test(
        "clients #102: what has another form, or stands twice, is refused with its name",
        arguments: [
            (#""signingKeys": [{"publicKey": "short", "secret": "pair", "requestors": ["NEWS"]}]"#, "must have 8 to 64 letters and digits"),
            (#""signingKeys": [{"publicKey": "abcdefgh", "secret": "../pair", "requestors": ["NEWS"]}]"#, "must be the name of a secret"),
            (#""signingKeys": [{"publicKey": "abcdefgh", "secret": "pair", "requestors": ["OTHER"]}]"#, "may not act"),
            (#""signingKeys": [{"publicKey": "abcdefgh", "secret": "pair", "requestors": ["NEWS"], "window": 0}]"#, "window"),
            (
                #""signingKeys": [{"publicKey": "abcdefgh", "secret": "p", "requestors": ["NEWS"]}], "clients": [{"clientId": "abcdefgh", "secret": "c"}]"#,
                "which the application 'news-tv' has already"
            ),
            (#""legacyStatements": ["0a"]"#, "must be the SHA-256"),
            (#""legacyStatements": ["\#(digest.uppercased())"]"#, "must be the SHA-256"),
            (#""clients": [{"clientId": "a b", "secret": "c"}]"#, "printable"),
        ])
    func refuses(members: String, problem: String) throws {
        let problems = try world(members).problems()
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }
}
