import Cryptography
import Foundation
import PeerDoubles
import Transport

/// A throwaway authority with certificates of all peers, in a temporary folder.
final class TestAuthority: Sendable {
    let folder: URL
    private let authority: CertificateAuthority

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "boxoffice-conformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = try CertificateAuthority.create(name: "test authority")
        try write(authority.certificate.pem(), "ca.crt")
        for name in ["config", "authentication", "authorization", "autosignin", "operator", "stranger"] {
            try write(authority.issue(commonName: name, names: CertificateNames(dns: ["\(name).boxoffice"])), name)
        }
        let other = try CertificateAuthority.create(name: "another authority")
        try write(other.issue(commonName: "operator", names: CertificateNames(dns: ["operator.boxoffice"])), "foreigner")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var pki: PeerPki { PeerPki(folder: folder.path) }

    func files(_ name: String) -> TlsFiles { pki.files(of: name) }

    private func write(_ identity: CertifiedKey, _ name: String) throws {
        try write(identity.certificate.pem(), "\(name).crt")
        try write(identity.key.pem(), "\(name).key")
    }

    private func write(_ text: String, _ name: String) throws { try Data(text.utf8).write(to: folder.appending(path: name)) }
}
