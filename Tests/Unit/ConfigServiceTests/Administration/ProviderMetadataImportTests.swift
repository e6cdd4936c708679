import CatalogueSamples
import Clocks
@testable import ConfigService
import ContractRuntime
import Contracts
import Cryptography
import Foundation
import Testing

/// The reading of an MVPD's SAML metadata, and the points that a person has to confirm of it (mvpd §2.7, decision 0021).
@Suite("Import of SAML metadata", .eachEngine)
struct ProviderMetadataImportTests {
    private static let format = "urn:oasis:names:tc:SAML:2.0:nameid-format:"

    private static func der(_ pem: String) throws -> [UInt8] { try Cryptography.Certificate(pem: pem).der }

    private static func digest(_ pem: String) throws -> String { Hex.encode(SHA256.hash(try der(pem))) }

    private static func document(_ certificates: [String], formats: [String] = [], root: String = "") throws -> String {
        let keys = try certificates.map { text in
            let digits = text.contains("BEGIN") ? Data(try der(text)).base64EncodedString() : text
            return "<KeyDescriptor use=\"signing\"><KeyInfo xmlns=\"http://www.w3.org/2000/09/xmldsig#\"><X509Data><X509Certificate>\(digits)"
                + "</X509Certificate></X509Data></KeyInfo></KeyDescriptor>"
        }
        return """
            <EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.md.example/x" \(root)><IDPSSODescriptor \
            protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">\(keys.joined())\
            \(formats.map { "<NameIDFormat>\($0)</NameIDFormat>" }.joined())<SingleSignOnService \
            Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.md.example/sso"/></IDPSSODescriptor></EntityDescriptor>
            """
    }

    private func review(_ document: String, _ admin: AdministrationWorld) async throws -> ProviderMetadata {
        let request = ReviewProviderMetadataRequest(token: AdministrationWorld.Who.olga.token, mvpdID: "NewCable", document: document)
        return try await admin.service.reviewProviderMetadata(request, context: CallContext())
    }

    private static let entry = #"{"displayName":"New Cable","authzTtl":3600,"authorization":{"protocol":"none"}}"#

    private func take(
        _ document: String, _ fingerprints: [String], expired: [String] = [], entry: String = Self.entry, ifMatch: String = "",
        _ admin: AdministrationWorld
    ) async throws -> EntityOutcome.Outcome {
        let request = ImportProviderMetadataRequest(
            token: AdministrationWorld.Who.olga.token, mvpdID: "NewCable", document: document, fingerprints: fingerprints, entryJson: entry,
            ifMatch: ifMatch, confirmedCertificates: expired)
        return try #require(try await admin.service.importProviderMetadata(request, context: CallContext()).outcome)
    }

    private static func certificate(_ start: Duration, _ end: Duration) throws -> String {
        try CatalogueFolder.certificate(validFrom: CatalogueFolder.now + start, to: CatalogueFolder.now + end)
    }

    @Test(
        "SAML V2.0 Metadata Interoperability Profile §2.6.1: a certificate that is not valid today is taken with a confirmation of its own, which the audit keeps",
        arguments: [true, false])
    func confirmsExpired(isExpired: Bool) async throws {
        let admin = try await AdministrationWorld()
        let day = Duration.seconds(86_400)
        let pem = isExpired ? try Self.certificate(day * -800, day * -30) : try Self.certificate(day * 3, day * 800)
        let (document, sha256) = (try Self.document([pem]), try Self.digest(pem))
        let found = try await review(document, admin)
        #expect(found.problems.isEmpty && found.certificates.map(\.problem) == [""])
        let warning = try #require(found.warnings.first { $0.field == "KeyDescriptor" })
        #expect(warning.message.contains(isExpired ? "is expired since 20" : "is not valid before 20") && warning.confirmableCertificate == sha256)
        #expect(found.certificates[0].warning == warning.message)
        #expect(
            try found.certificates[0].subject == Cryptography.Certificate(pem: pem).subject && found.certificates[0].subject.contains("Harbor IdP"))

        let refused = try #require(try await take(document, [sha256], admin).refusal)
        #expect(refused.problems.map(\.field) == ["saml.signingCertificates[0]"] && refused.problems[0].confirmableCertificate == sha256)
        #expect(refused.problems[0].message.contains(sha256))
        let other = try Self.digest(try Self.certificate(day * -1, day))
        #expect(try await take(document, [sha256], expired: [other], admin).refusal?.problems.map(\.field) == ["confirmExpired[0]"])
        #expect(try await admin.audit().allSatisfy { $0.action != "certificate_confirmed" })

        let spelled = stride(from: 0, to: 64, by: 2).map { String(Array(sha256.uppercased())[$0...$0 + 1]) }.joined(separator: ":")
        let changed = try await take(document, [sha256], expired: [spelled], admin).changed()
        let record = try #require(try await admin.audit().first { $0.action == "certificate_confirmed" })
        #expect(record.author == "olga" && record.text.contains(sha256) && record.text.contains("NewCable"))

        let later = try Self.certificate(day * -700, day * -20)
        let next = try Self.document([pem, later])
        let digests = [sha256, try Self.digest(later)]
        let notCovered = try await take(next, digests, entry: "", ifMatch: changed.entity?.etag ?? "", admin)
        #expect(notCovered.refusal?.problems.map(\.field) == ["saml.signingCertificates[1]"], "the confirmation covers one certificate")
        try await take(next, digests, expired: [digests[1]], entry: "", ifMatch: changed.entity?.etag ?? "", admin).changed()
        #expect(try await admin.audit().filter { $0.action == "certificate_confirmed" }.count == 2, "one that stays is not confirmed again")
    }

    @Test("decision 0021: an entry that is edited asks for the same confirmation")
    func confirmsInEntry() async throws {
        let admin = try await AdministrationWorld()
        let pem = try Self.certificate(.seconds(-1000), .seconds(-1))
        let digest = try Self.digest(pem)
        let members: [String: Any] = [
            "id": "NewCable", "displayName": "New Cable", "authzTtl": 3600, "authorization": ["protocol": "none"],
            "saml": [
                "idpEntityId": "https://idp.md.example/x", "ssoUrl": "https://idp.md.example/sso", "requestBinding": "redirect",
                "signingCertificates": [pem],
            ] as [String: Any],
        ]
        let json = String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
        func create(_ confirmed: [String]) async throws -> EntityOutcome.Outcome {
            let request = CreateEntityRequest(
                token: AdministrationWorld.Who.olga.token, kind: .mvpd, json: json, confirmedCertificates: confirmed)
            return try #require(try await admin.service.createEntity(request, context: CallContext()).outcome)
        }
        #expect(try await create([]).refusal?.problems.map(\.confirmableCertificate) == [digest])
        #expect(try await create([String(repeating: "0", count: 64)]).refusal?.problems.map(\.confirmableCertificate) == [digest])
        try await create([digest]).changed()
        #expect(try await admin.audit().contains { $0.action == "certificate_confirmed" && $0.text.contains(digest) })
    }

    @Test(
        "metadata without a name gives that of its server, else the MVPD's id; a name that is there stays",
        arguments: [
            ("https://idp.md.example/x", "idp.md.example"), ("https://IDP.md.example:8443", "IDP.md.example"),
            ("http://127.0.0.1:8090/x", "NewCable"),
            ("urn:example:idp", "NewCable"), ("https://localhost/x", "NewCable"),
        ])
    func namesByDefault(entityID: String, name: String) async throws {
        let admin = try await AdministrationWorld()
        let pem = try Self.certificate(.seconds(-1000), .seconds(86_400))
        let document = try Self.document([pem]).replacing("https://idp.md.example/x", with: entityID)
        let entry = #"{"authzTtl":3600,"authorization":{"protocol":"none"}}"#
        let changed = try await take(document, [try Self.digest(pem)], entry: entry, admin).changed()
        #expect(changed.entity?.json.contains("\"displayName\":\"\(name)\"") == true)
        let etag = changed.entity?.etag ?? ""
        let named = try await take(document, [try Self.digest(pem)], entry: #"{"displayName":"Mine"}"#, ifMatch: etag, admin).changed()
        let again = try await take(document, [try Self.digest(pem)], entry: "", ifMatch: named.entity?.etag ?? "", admin).changed()
        #expect(again.entity?.json.contains(#""displayName":"Mine""#) == true)
    }

    @Test("bridge §3.3: metadata gives an MVPD that an upstream alone served a way of its own; name and logo stay")
    func endsUpstreamOnly() async throws {
        let admin = try await AdministrationWorld()
        let json = #"{"id":"NewCable","displayName":"New Cable","logoUrl":"https://img.example/new.png","upstreamOnly":true}"#
        let request = CreateEntityRequest(token: AdministrationWorld.Who.olga.token, kind: .mvpd, json: json)
        let made = try #require(try await admin.service.createEntity(request, context: CallContext()).outcome).changed()
        let pem = try Self.certificate(.seconds(-1000), .seconds(86_400))
        let entry = #"{"authzTtl":3600,"authorization":{"protocol":"none"}}"#
        let taken = try await take(
            try Self.document([pem]), [try Self.digest(pem)], entry: entry, ifMatch: made.entity?.etag ?? "", admin
        ).changed()
        let text = try #require(taken.entity?.json)
        #expect(!text.contains("upstreamOnly") && text.contains("https://img.example/new.png") && text.contains("https://idp.md.example/sso"))
    }

    @Test("a validUntil that is over, with any offset, or cannot be read is refused, whatever is confirmed")
    func refusesEnded() async throws {
        let admin = try await AdministrationWorld()
        let pem = try Self.certificate(.seconds(-1000), .seconds(-1))
        let digest = try Self.digest(pem)
        for (text, words) in [
            ("2018-05-20T09:35:58+02:00", "is over"), ("2018-05-20T09:35:58Z", "is over"), ("2018-05-20", "no xs:dateTime"),
            ("2090-05-20T09:35:58", "time zone"),
        ] {
            let document = try Self.document([pem], root: "validUntil=\"\(text)\"")
            let problem = try #require(try await review(document, admin).problems.first)
            #expect(problem.field == "validUntil" && problem.message.contains(words), "\(problem)")
            #expect(try await take(document, [digest], expired: [digest], admin).refusal?.problems.first?.field == "validUntil")
        }
        let good = try Self.document([try Self.certificate(.seconds(-1000), .seconds(86_400))], root: "validUntil=\"2090-01-01T00:00:00-05:00\"")
        #expect(try await review(good, admin).problems.isEmpty)
    }

    @Test(
        "a first import asks for the first stable NameID format that is offered, transient last",
        arguments: [
            (["transient", "1.1:emailAddress"], "1.1:emailAddress"), (["transient", "persistent"], nil), (["transient"], "transient"), ([], nil),
            (["1.1:unspecified", "1.1:emailAddress", "1.1:X509SubjectName"], "1.1:emailAddress"),
            (["transient", "1.1:unspecified"], "1.1:unspecified"),
            (["entity", "transient"], "transient"), (["1.1:X509SubjectName", "1.1:emailAddress"], "1.1:X509SubjectName"),
            (["kerberos", "persistent"], nil),
        ] as [([String], String?)])
    func prefersStable(offered: [String], asked: String?) async throws {
        func uri(_ name: String) -> String {
            name.hasPrefix("1.1:") ? "urn:oasis:names:tc:SAML:1.1:nameid-format:" + name.dropFirst(4) : Self.format + name
        }
        let admin = try await AdministrationWorld()
        let pem = try Self.certificate(.seconds(-1000), .seconds(86_400 * 90))
        let document = try Self.document([pem], formats: offered.map(uri))
        let found = try await review(document, admin)
        #expect(found.warnings.contains { $0.field == "NameIDFormat" } == (asked == "transient"))
        let digest = try Self.digest(pem)
        let changed = try await take(document, [digest], admin).changed()
        func format(_ changed: EntityChanged) throws -> String? {
            let members = try JSONSerialization.jsonObject(with: Data((changed.entity?.json ?? "").utf8)) as? [String: Any]
            return (members?["saml"] as? [String: Any])?["nameIdFormat"] as? String
        }
        #expect(try format(changed) == asked.map(uri))
        // Another import of the same MVPD changes no format, whatever it offers and brings along.
        let others = try Self.document([pem], formats: [uri("1.1:WindowsDomainQualifiedName")])
        let brought = #"{"saml":{"attributeMap":[{"target":"userID"}]}}"#
        for entry in ["", brought] {
            let etag = try await admin.get(.mvpd, "NewCable").etag
            #expect(try format(try await take(others, [digest], entry: entry, ifMatch: etag, admin).changed()) == asked.map(uri))
        }
    }

    @Test("a certificate that cannot be read is named: beside a good one as a warning, alone as what keeps the metadata out")
    func namesBroken() async throws {
        let admin = try await AdministrationWorld()
        let good = try Self.certificate(.seconds(-1000), .seconds(86_400 * 90))
        let cut = String(Data(try Self.der(good)).base64EncodedString().prefix(400))
        let alone = try await review(try Self.document(["%%%", cut]), admin)
        #expect(
            alone.problems.map(\.field) == ["KeyDescriptor: certificate 1", "KeyDescriptor: certificate 2", "KeyDescriptor"])
        #expect(alone.problems[0].message.contains("not whole base64") && alone.problems[1].message.contains("no X.509 certificate"))
        #expect(alone.certificates.map { $0.problem.isEmpty } == [false, false] && alone.certificates[0].sha256.isEmpty)
        let beside = try await review(try Self.document(["%%%", good]), admin)
        #expect(beside.problems.isEmpty && beside.warnings.contains { $0.field == "KeyDescriptor: certificate 1" })
        let refused = try #require(try await take(try Self.document([cut, good]), [alone.certificates[1].sha256], admin).refusal)
        #expect(refused.problems.map(\.field) == ["fingerprints[0]"] && refused.problems[0].message == alone.problems[1].message)
    }

    @Test("a discovery document in place of metadata is named, and where it counts")
    func namesDiscovery() async throws {
        let admin = try await AdministrationWorld()
        let found = try await review(#"{"issuer": "https://op.example", "authorization_endpoint": "https://op.example/a"}"#, admin)
        #expect(found.problems.map(\.field) == ["metadata"] && found.problems[0].message.contains("OpenID Connect"))
        #expect(found.problems[0].message.contains("/.well-known/openid-configuration"))
    }
}
