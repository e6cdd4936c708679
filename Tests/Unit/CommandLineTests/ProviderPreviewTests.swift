@testable import AdministrationCommands
@testable import CommandKit
import Foundation
import Testing

/// The view of an MVPD's metadata in `boxoffice mvpd add`.
@Suite("Preview of an MVPD") struct ProviderPreviewTests {
    private func preview(_ json: String, sent: String? = "<xml/>") throws -> ProviderPreview {
        try ProviderPreview(HTTPAnswer(status: 200, headers: [], body: Array(json.utf8)), sent: sent)
    }

    private static let saml = """
        {"entityId": "https://idp.example", "displayName": "New Cable", "endpoints": [{"service": "SingleSignOnService", "location": "https://idp.example/sso"}],
         "certificates": [{"sha256": "abcd", "subject": "CN=idp", "notBefore": 1, "notAfter": 1930384800000, "signs": true}],
         "nameIdFormats": ["transient"], "wantsSignedRequests": true, "problems": [],
         "warnings": [{"field": "NameIDFormat", "message": "is transient: each sign-in would be another user."}]}
        """

    @Test("what is understood, what is doubtful, and fingerprints to compare")
    func shows() throws {
        let found = try preview(Self.saml)
        let text = found.text(Console(isStyled: false))
        #expect(!found.isOAuth && found.document == "<xml/>")
        #expect(text.contains("look at  NameIDFormat is transient: each sign-in would be another user.") && text.contains("  abcd"))
        #expect(text.contains("CN=idp, until 2031-03-04") && text.hasSuffix("--confirm SHA256 for each certificate that is the MVPD's own"))
        #expect(try found.json().contains(#""entityId":"https://idp.example""#))
    }

    @Test("a certificate that is not valid today names its own confirmation, and one that cannot be read its place")
    func showsDoubtfulCertificates() throws {
        let old =
            #""signs": true, "warning": "(CN=idp) is expired since 2026-10-30"}, {"sha256": "", "subject": "", "notAfter": 0, "signs": true, "problem": "is empty"}]"#
        let found = try preview(Self.saml.replacing(#""signs": true}]"#, with: old))
        let text = found.text(Console(isStyled: false))
        #expect(text.contains("CN=idp, until 2031-03-04: (CN=idp) is expired since 2026-10-30") && text.contains("certificate 2: is empty"))
        #expect(text.hasSuffix("--confirm-expired SHA256 for one that is not valid today"))
        let command = try MvpdAddCommand.parse(["x.xml", "--confirm-expired", "AB:CD"])
        #expect(command.expiredFingerprints == ["AB:CD"] && command.pinned == ["AB:CD"])
        #expect(try MvpdAddCommand.parse(["x.xml", "--confirm", "abcd", "--confirm-expired", "AB:CD"]).pinned == ["abcd"])
    }

    @Test("a discovery document becomes an entry with the client that the MVPD registered")
    func completes() throws {
        let found = try preview(
            """
            {"entityId": "https://id.example", "endpoints": [], "certificates": [], "nameIdFormats": [], "problems": [], "warnings": [],
             "entry": {"oauth": {"issuer": "https://id.example"}}}
            """, sent: nil)
        #expect(found.isOAuth)
        let command = try MvpdAddCommand.parse([
            "https://id.example/.well-known/openid-configuration", "--id", "NewFiber", "--client-id", "box", "--client-secret-reference", "fiber",
        ])
        let entry = try MvpdEntry(command: command).oauth(found, id: "NewFiber")
        #expect((entry["oauth"] as? [String: String])?["clientSecretReference"] == "fiber" && entry["displayName"] as? String == "NewFiber")
        #expect(entry["authnTtl"] as? Int == 2_592_000 && (entry["authorization"] as? [String: String]) == ["protocol": "none"])
        let half = try MvpdAddCommand.parse(["https://id.example/", "--id", "NewFiber", "--client-id", "box"])
        #expect(throws: CommandFailure.self) { try MvpdEntry(command: half).oauth(found, id: "NewFiber") }
    }

    @Test("of an entry that is there, what no option names stays")
    func keeps() throws {
        let former: [String: Any] = [
            "displayName": "Old Cable", "authnTtl": 60, "authorization": ["protocol": "xacmlJson", "url": "https://pdp.example"],
            "saml": ["signaturePolicy": "both", "attributeMap": [["target": "userID"], ["source": "zip", "target": "zip"]]] as [String: Any],
        ]
        #expect(try MvpdEntry(command: MvpdAddCommand.parse(["idp.xml"])).saml(over: former).isEmpty)
        let changed = try MvpdEntry(command: MvpdAddCommand.parse(["idp.xml", "--days", "7", "--user-id-attribute", "uid"])).saml(over: former)
        #expect(Set(changed.keys) == ["authnTtl", "saml"] && changed["authnTtl"] as? Int == 604_800)
        let saml = try #require(changed["saml"] as? [String: Any])
        #expect(saml["signaturePolicy"] as? String == "both" && saml["guidAttributeName"] as? String == "uid")
        #expect((saml["attributeMap"] as? [[String: String]])?.compactMap { $0["source"] } == ["uid", "zip"])
        let moved = try MvpdEntry(command: MvpdAddCommand.parse(["idp.xml", "--decision-url", "https://b.example"])).saml(over: former)
        #expect(moved["authorization"] as? [String: String] == ["protocol": "xacmlJson", "url": "https://b.example"])
        let none = try MvpdEntry(command: MvpdAddCommand.parse(["idp.xml", "--decisions", "none"])).saml(over: former)
        #expect(none["authorization"] as? [String: String] == ["protocol": "none"])

        let found = try preview(
            """
            {"entityId": "https://id.example", "endpoints": [], "certificates": [], "nameIdFormats": [], "problems": [], "warnings": [],
             "entry": {"oauth": {"issuer": "https://id.example"}}}
            """, sent: nil)
        let client = try MvpdAddCommand.parse(["https://id.example/", "--id", "NewFiber", "--client-id", "box"])
        let known: [String: Any] = ["displayName": "Fiber", "oauth": ["clientSecretReference": "fiber", "callback": "own"], "authnTtl": 60]
        let entry = try MvpdEntry(command: client).oauth(found, id: "NewFiber", over: known)
        #expect(entry["displayName"] as? String == "Fiber" && entry["authnTtl"] as? Int == 60)
        #expect(
            entry["oauth"] as? [String: String]
                == ["clientSecretReference": "fiber", "callback": "own", "issuer": "https://id.example", "clientId": "box"])
    }

    @Test("an attribute with the person's id is mapped; numbers out of range are refused")
    func maps() throws {
        let command = try MvpdAddCommand.parse(["idp.xml", "--user-id-attribute", "uid", "--days", "7"])
        let saml = try MvpdEntry(command: command).saml()["saml"] as? [String: Any]
        #expect(
            saml?["guidAttributeName"] as? String == "uid"
                && (saml?["attributeMap"] as? [[String: String]]) == [["source": "uid", "target": "userID"]])
        let long = try MvpdAddCommand.parse(["idp.xml", "--days", "366"])
        #expect(throws: CommandFailure.self) { try MvpdEntry(command: long).saml() }
        #expect(throws: CommandFailure.self) { try preview("[]") }
    }
}
