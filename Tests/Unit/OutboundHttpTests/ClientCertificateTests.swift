import Cryptography
import Foundation
import Testing

@testable import OutboundHttp

/// The files of client certificates, and what becomes of them.
@Suite("Client certificates") struct ClientCertificateTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificates-\(UUID().uuidString)")
    private let authority: CertificateAuthority

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = try CertificateAuthority.create(name: "Clients")
    }

    private func write(_ name: String) throws -> ClientCertificateFiles {
        let identity = try authority.issue(commonName: name, names: CertificateNames(dns: ["\(name).example"]))
        try identity.certificate.pem().write(to: folder.appendingPathComponent("\(name).crt"), atomically: true, encoding: .utf8)
        try identity.key.pem().write(to: folder.appendingPathComponent("\(name).key"), atomically: true, encoding: .utf8)
        return ClientCertificateFiles(certificate: "\(name).crt", key: "\(name).key")
    }

    private func load(_ files: ClientCertificateFiles) -> Result<ClientCertificate, ClientCertificateError> {
        do throws(ClientCertificateError) {
            return .success(try files.load { folder.appendingPathComponent($0).path })
        } catch {
            return .failure(error)
        }
    }

    @Test("files that cannot be read, or do not belong together, are named")
    func saysWhatIsWrong() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (one, two) = (try write("one"), try write("two"))
        let mixed = ClientCertificateFiles(certificate: one.certificate, key: two.key)
        let absent = ClientCertificateFiles(certificate: one.certificate, key: "absent.key")
        for (files, file) in [(mixed, "two.key"), (absent, "absent.key")] {
            guard case .failure(let error) = load(files) else {
                Issue.record("\(files) was taken")
                continue
            }
            #expect("\(error)".contains(file), "\(error)")
        }
    }

    @Test("a certificate whose files can no longer be read stays; one that never could is a failure that names the setting")
    func keepsWhatItHas() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (one, two) = (load(try write("one")), load(try write("two")))
        let lost = ClientCertificateError(description: "the file one.crt cannot be read")
        let certificates = ClientCertificates(["tv": one], setting: "s.certificates")
        let first = try certificates.certificate("tv")
        #expect(certificates.replace(["tv": .failure(lost), "phone": .failure(lost)]).map(\.name) == ["phone", "tv"])
        #expect(try certificates.certificate("tv") == first)
        for (name, cause) in [
            ("phone", "s.certificates.phone cannot be used: the file one.crt cannot be read"), ("x", "the settings have no s.certificates.x"),
        ] {
            let failure = #expect(throws: OutboundFailure.self) { try certificates.certificate(name) }
            #expect(failure?.kind == .noCertificate && failure?.cause == cause)
        }
        #expect(certificates.replace(["tv": two, "phone": one]).isEmpty)
        #expect(try certificates.certificate("tv") != first)
        #expect(try certificates.certificate("phone") == first)
    }
}
