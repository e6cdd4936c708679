import Catalogue
import CatalogueSamples
import Clocks
import ConfigService
import Contracts
import Foundation
import Testing

@Suite("Certificates under administration", .eachEngine)
struct CertificateEditingTests {
    private func use(_ certificates: [(pem: String, encrypts: Bool)], _ admin: AdministrationWorld) async throws -> EntityOutcome.Outcome {
        try await admin.edit(.programmer, "harbor", as: .ed) { programmer in
            programmer["certificates"] = certificates.map { ["certificate": $0.pem, "encryptsUserMetadata": $0.encrypts] as [String: Any] }
        }
    }

    @Test("dashboard #9: an expired certificate is refused; one that expires where it is keeps nothing from being edited")
    func expired() async throws {
        let admin = try await AdministrationWorld()
        let old = try CatalogueFolder.certificate(validFrom: CatalogueFolder.now - .seconds(1000), to: CatalogueFolder.now - .seconds(1))
        #expect(try await use([(old, true)], admin).refusal?.problems.map(\.field) == ["certificates[0]"])
        let short = try CatalogueFolder.certificate(to: CatalogueFolder.now + .seconds(100))
        try await use([(short, true)], admin).changed()
        try await admin.push(as: .ed).version()
        admin.world.clock.advance(by: .seconds(200))
        try await admin.edit(.programmer, "harbor", as: .ed) { $0["name"] = "Harbour" }.changed()
        try await admin.push(as: .ed).version()
    }

    @Test("dashboard #9: a certificate with a key of 1024 bits is refused")
    func weak() async throws {
        let admin = try await AdministrationWorld()
        let maker = Process()
        maker.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        maker.arguments = [
            "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=weak", "-keyout", admin.world.path + "/weak.key", "-out",
            admin.world.path + "/weak.crt",
        ]
        maker.standardError = FileHandle.nullDevice
        try maker.run()
        maker.waitUntilExit()
        try #require(maker.terminationStatus == 0)
        let pem = try String(contentsOfFile: admin.world.path + "/weak.crt", encoding: .utf8)
        #expect(try await use([(pem, true)], admin).refusal?.problems.map(\.field) == ["certificates[0].certificate"])
    }

    @Test("dashboard #10: a backup certificate that is switched to yes and pushed is the one that encrypts")
    func backup() async throws {
        let admin = try await AdministrationWorld()
        let primary = try CatalogueFolder.certificate(validFrom: CatalogueFolder.now - .seconds(1000))
        let backup = try CatalogueFolder.certificate(validFrom: CatalogueFolder.now - .seconds(500))
        for isSwitched in [false, true] {
            try await use([(primary, true), (backup, isSwitched)], admin).changed()
            try await admin.push(as: .ed).version()
            let catalogue = Catalogue(admin.published.configuration)
            let certificate = catalogue.metadataCertificate(of: try #require(catalogue.requestor("NEWS")), now: CatalogueFolder.now)
            #expect(try certificate?.pem().split(separator: "\n") == (isSwitched ? backup : primary).split(separator: "\n"))
        }
    }

    @Test("dashboard #11: a key that is to be encrypted blocks the push until there is a certificate for it, and one in use is not taken away")
    func encryptedKeys() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.integration, "NEWS/TinyCable", as: .ed) { $0["metadataKeys"] = [["key": "zip", "encrypted": true] as [String: Any]] }
            .changed()
        let refusal = try #require(try await admin.push(as: .ed).refusal)
        #expect(refusal.reason == .invalid)
        #expect(refusal.problems.map(\.field) == ["integrations/NEWS/TinyCable: metadataKeys"])
        try await use([(CatalogueFolder.certificate(), true)], admin).changed()
        try await admin.push(as: .ed).version()
        try await use([], admin).changed()
        #expect(try await admin.push(as: .ed).refusal?.reason == .invalid)
    }

    @Test("dashboard #16 and #18: a platform's value comes before its category's, reaches no sibling, and gives way when it is taken away")
    func platforms() async throws {
        let admin = try await AdministrationWorld()
        func values(_ overrides: [[String: Any]]) async throws -> [String: String] {
            let changed = try await admin.edit(.integration, "NEWS/TinyCable") { $0["platformOverrides"] = overrides }.changed()
            let json = try JSONSerialization.jsonObject(with: Data((changed.entity?.effectiveJson ?? "").utf8))
            let scopes = try #require(json as? [String: [String: [String: Any]]])
            return scopes.mapValues { "\($0["authnTtl"]?["value"] ?? "") \($0["authnTtl"]?["source"] ?? "")" }
        }
        let tv: [String: Any] = ["scope": "tv", "authnTtl": 600]
        let both = try await values([tv, ["scope": "roku", "authnTtl": 604_800]])
        #expect(both["roku"] == "604800 integration:roku" && both["tvos"] == "600 integration:tv" && both["ios"] == "2592000 mvpd")
        let category = try await values([tv])
        #expect(category["roku"] == "600 integration:tv" && category["desktop"] == "2592000 mvpd")
        #expect(try await values([])["roku"] == "2592000 mvpd")
    }

    @Test("dashboard #19: single sign-on cannot be enabled for desktops")
    func desktop() async throws {
        let admin = try await AdministrationWorld()
        let refused = try await admin.edit(.integration, "NEWS/TinyCable") { $0["platformOverrides"] = [["scope": "desktop", "platformSso": "on"]] }
        #expect(refused.refusal?.problems.map(\.field) == ["platformOverrides[0].platformSso"])
    }
}
