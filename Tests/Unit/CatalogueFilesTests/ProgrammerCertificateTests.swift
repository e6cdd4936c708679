import CatalogueSamples
import Clocks
import Contracts
import Cryptography
import Foundation
import Testing

@Suite("Certificates of programmers")
struct ProgrammerCertificateTests {
    private static let programmer = #""name": "Harbor""#
    private static let pair = #"{"requestor": "NEWS", "mvpd": "TinyCable"}"#
    private static let encrypted = #"{"requestor": "NEWS", "mvpd": "TinyCable", "metadataKeys": [{"key": "zip", "encrypted": true}]}"#

    /// A catalogue whose programmer has the certificate in `programmer.crt`, and whose integration encrypts.
    private func world(_ pem: String, members: String = #""encryptsUserMetadata": true"#) throws -> CatalogueFolder {
        let world = try CatalogueFolder()
        try world.write(pem, to: "programmer.crt")
        let certificates = #""certificates": [{"certificate": {"file": "programmer.crt"}, \#(members)}]"#
        let text = CatalogueFolder.small.replacingOccurrences(of: Self.programmer, with: "\(Self.programmer), \(certificates)")
            .replacingOccurrences(of: Self.pair, with: Self.encrypted)
        try world.write(text, to: "catalogue.json")
        return world
    }

    @Test("a valid one makes encrypted keys possible, and keeps its id and padding")
    func valid() throws {
        let pem = try CatalogueFolder.certificate()
        let world = try world(
            pem, members: #""encryptsUserMetadata": true}], "metadataEncryption": "pkcs1v15", "customSchemes": ["adbe.0123456789abcdefghijkl"#)
        try world.write(
            try String(contentsOfFile: world.file.path, encoding: .utf8).replacingOccurrences(of: #"hijkl}]"#, with: #"hijkl"]"#),
            to: "catalogue.json")
        let programmer = try world.file.read(now: CatalogueFolder.now).configuration.programmers[0]
        let certificate = try Cryptography.Certificate(pem: pem)
        #expect(programmer.certificates.map(\.der) == [certificate.der])
        #expect(programmer.certificates.map(\.id) == [Hex.encode(certificate.fingerprint)])
        #expect(programmer.metadataEncryption == .pkcs1V15)
        #expect(programmer.customSchemes == ["adbe.0123456789abcdefghijkl"])
    }

    @Test("dashboard #11: an encrypted key without a certificate that encrypts is a problem", arguments: [#""revoked": false"#, #""revoked": true"#])
    func notForEncryption(member: String) throws {
        let problems = try world(try CatalogueFolder.certificate(), members: member).problems()
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("integrations[0].metadataKeys[0] ") == true)
    }

    @Test("one that has ended is pointed out, with the keys that are left out for it; the catalogue stays usable")
    func expired() throws {
        let pem = try CatalogueFolder.certificate(validFrom: CatalogueFolder.now - .seconds(1000), to: CatalogueFolder.now - .seconds(1))
        let world = try world(pem)
        let content = try world.file.read(now: CatalogueFolder.now)
        #expect(content.warnings.map(\.path).sorted() == ["integrations[0].metadataKeys[0]", "programmers[0].certificates[0].certificate"])
        #expect(content.configuration.programmers[0].certificates.count == 1)
        let kept = try self.world(pem, members: #""encryptsUserMetadata": true, "revoked": true"#).problems()
        #expect(kept.count == 1)
        #expect(kept.first?.hasPrefix("integrations[0].metadataKeys[0] ") == true)
    }

    @Test("one that ends within 30 days is pointed out")
    func soonExpired() throws {
        let pem = try CatalogueFolder.certificate(to: CatalogueFolder.now + .seconds(29 * 86_400))
        let world = try world(pem)
        #expect(try world.file.read(now: CatalogueFolder.now).warnings.map(\.path) == ["programmers[0].certificates[0].certificate"])
    }

    @Test("one with a P-256 key is a problem: nothing can be encrypted to it")
    func ellipticCurve() throws {
        let validity = CertificateValidity(notBefore: CatalogueFolder.now - .seconds(10), notAfter: CatalogueFolder.now + .seconds(86_400 * 90))
        let problems = try world(try CertifiedKey.selfSigned(commonName: "Harbor", validity: validity).certificate.pem()).problems()
        #expect(problems.contains { $0.hasPrefix("programmers[0].certificates[0].certificate ") && $0.contains("RSA") })
    }

    @Test("two in one text are a problem")
    func twoBlocks() throws {
        let problems = try world(try CatalogueFolder.certificate() + CatalogueFolder.certificate()).problems()
        #expect(problems.contains { $0.contains("must hold one certificate; it holds 2") })
    }

    @Test("dashboard #8: a private key is refused, and its text is repeated nowhere")
    func privateKey() throws {
        let validity = CertificateValidity(notBefore: CatalogueFolder.now - .seconds(10), notAfter: CatalogueFolder.now + .seconds(86_400 * 90))
        let identity = try CertifiedKey.selfSigned(commonName: "Harbor", key: .rsa(.generate()), validity: validity)
        let key = try identity.key.pem()
        let secret = try #require(key.split(separator: "\n").dropFirst().first.map(String.init))
        for pem in [key, try identity.certificate.pem() + key] {
            let world = try world(pem)
            let problems = world.problems()
            #expect(problems.contains { $0.hasPrefix("programmers[0].certificates[0].certificate ") && $0.contains("private key") })
            #expect(!problems.contains { $0.contains(secret) })
        }
    }
}
