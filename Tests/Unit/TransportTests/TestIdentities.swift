import Cryptography
import Foundation
import Transport

/// A throwaway authority with its certificates in a temporary folder.
final class TestIdentities: Sendable {
    let folder: URL
    let authority: CertificateAuthority

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "boxoffice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = try CertificateAuthority.create(name: "test authority")
        try write(authority.certificate.pem(), "ca.crt")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func files(_ name: String) -> TlsFiles {
        TlsFiles(certificate: path("\(name).crt"), key: path("\(name).key"), trustAnchors: path("ca.crt"))
    }

    func identity(_ name: String, validity: CertificateValidity = .days(1)) throws -> TlsIdentity {
        try issue(name, names: [name], validity: validity)
        return try TlsIdentity(files: files(name))
    }

    /// Writes a certificate under a file name that may differ from its names.
    func issue(_ file: String, names: [String], validity: CertificateValidity = .days(1)) throws {
        let issued = try authority.issue(commonName: "test", names: CertificateNames(dns: names), validity: validity)
        try write(issued.certificate.pem(), "\(file).crt")
        try write(issued.key.pem(), "\(file).key")
    }

    func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name), options: .atomic)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }
}
