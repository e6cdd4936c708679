import Cryptography
import Foundation
import Transport

/// Throwaway identities of the two ends.
struct BenchmarkIdentities {
    static let server = "benchmark-server.boxoffice"
    static let client = "benchmark-client.boxoffice"

    let folder: String

    func files(_ name: String) -> TlsFiles {
        TlsFiles(certificate: "\(folder)/\(name).crt", key: "\(folder)/\(name).key", trustAnchors: "\(folder)/ca.crt")
    }

    /// Writes them into a new folder.
    static func create() throws -> BenchmarkIdentities {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wire-benchmark-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let authority = try CertificateAuthority.create(name: "benchmark")
        try authority.certificate.pem().write(toFile: "\(folder)/ca.crt", atomically: true, encoding: .utf8)
        for name in [server, client] {
            let issued = try authority.issue(commonName: "benchmark", names: CertificateNames(dns: [name]))
            try issued.certificate.pem().write(toFile: "\(folder)/\(name).crt", atomically: true, encoding: .utf8)
            try issued.key.pem().write(toFile: "\(folder)/\(name).key", atomically: true, encoding: .utf8)
        }
        return BenchmarkIdentities(folder: folder)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
