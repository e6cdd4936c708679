import Catalogue
import Clocks
import Contracts
import Cryptography
import Testing

@Suite("Certificates for user metadata")
struct MetadataCertificateTests {
    private static let now = Timestamp(seconds: 1_900_000_000)

    private static func certificate(from start: Int64, to end: Int64) throws -> Contracts.Certificate {
        let validity = CertificateValidity(notBefore: now + .seconds(start), notAfter: now + .seconds(end))
        let der = try CertifiedKey.selfSigned(commonName: "Acme", validity: validity).certificate.der
        return Contracts.Certificate(id: Hex.encode(SHA256.hash(der)), der: der, encryptsUserMetadata: true)
    }

    private static func chosen(own: [Contracts.Certificate] = [], programmer: [Contracts.Certificate]) -> [UInt8]? {
        let requestor = Requestor(id: "ACME1", programmerID: "acme", certificates: own)
        let catalogue = Catalogue(Configuration(programmers: [Programmer(id: "acme", certificates: programmer)], requestors: [requestor]))
        return catalogue.metadataCertificate(of: requestor, now: now)?.der
    }

    @Test("rest-v1 §8: the newest valid one serves; the backup does when it is revoked or expired")
    func backup() throws {
        let backup = try Self.certificate(from: -2000, to: 2000)
        var primary = try Self.certificate(from: -1000, to: 1000)
        #expect(Self.chosen(programmer: [primary, backup]) == primary.der)
        #expect(Self.chosen(programmer: [backup, primary]) == primary.der)
        primary.revoked = true
        #expect(Self.chosen(programmer: [primary, backup]) == backup.der)
        #expect(Self.chosen(programmer: [try Self.certificate(from: -1000, to: -1), backup]) == backup.der)
        #expect(Self.chosen(programmer: [try Self.certificate(from: 1, to: 1000), backup]) == backup.der)
    }

    @Test("dashboard #10: a certificate that is switched to encrypt serves from then on")
    func switched() throws {
        let old = try Self.certificate(from: -2000, to: 2000)
        var new = try Self.certificate(from: -1000, to: 2000)
        new.encryptsUserMetadata = false
        #expect(Self.chosen(programmer: [old, new]) == old.der)
        new.encryptsUserMetadata = true
        #expect(Self.chosen(programmer: [old, new]) == new.der)
    }

    @Test("a requestor's own come in place of its programmer's; one that cannot be read is none")
    func own() throws {
        let programmer = try Self.certificate(from: -1000, to: 1000)
        var own = try Self.certificate(from: -3000, to: 1000)
        #expect(Self.chosen(own: [own], programmer: [programmer]) == own.der)
        own.revoked = true
        #expect(Self.chosen(own: [own], programmer: [programmer]) == nil)
        own.encryptsUserMetadata = false
        #expect(Self.chosen(own: [own], programmer: [programmer]) == programmer.der)
        #expect(Self.chosen(programmer: [Contracts.Certificate(der: [1, 2, 3], encryptsUserMetadata: true)]) == nil)
        #expect(Self.chosen(programmer: []) == nil)
    }

    @Test("custom schemes are the requestor's and its programmer's")
    func customSchemes() {
        let requestor = Requestor(id: "ACME1", programmerID: "acme", customSchemes: ["adbe.own"])
        let catalogue = Catalogue(
            Configuration(
                programmers: [Programmer(id: "acme", metadataEncryption: .pkcs1V15, customSchemes: ["adbe.shared"])], requestors: [requestor]))
        #expect(catalogue.customSchemes(of: requestor) == ["adbe.own", "adbe.shared"])
        #expect(catalogue.metadataEncryption(of: requestor) == .pkcs1V15)
        #expect(catalogue.metadataEncryption(of: Requestor(id: "LOOSE")) == .oaepSha256)
    }
}
