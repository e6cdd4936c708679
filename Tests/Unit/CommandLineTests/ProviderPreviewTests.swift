@testable import BoxofficeCommand
import Foundation
import Testing

/// What `boxoffice mvpd add` shows of an MVPD's metadata.
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
