internal import Clocks
internal import Cryptography
internal import Foundation

/// Warnings for an operator about certificates and keys that settings name, though a service starts with them.
enum CertificateDoubts {
    /// - Parameter paths: The paths of files and folders; a file that is no PEM has no doubts.
    static func of(_ paths: [String], at now: Timestamp) -> [String] {
        paths.flatMap { path -> [String] in
            guard let text = text(path) else { return [] }
            let certificates = (try? Certificate.all(pem: text)) ?? []
            let dates = certificates.compactMap { certificate -> String? in
                if certificate.notAfter < now { return "ended at \(moment(certificate.notAfter)); renew it" }
                if certificate.notBefore > now { return "is good from \(moment(certificate.notBefore)) on only, and the clock says \(moment(now))" }
                return nil
            }.map { "a certificate in \(path) \($0)" }
            let key = PrivateKeyFacts(pem: text)
            return dates + (key?.weakness.map { ["the key in \(path) \($0)"] } ?? [])
        }
    }

    /// - Returns: `nil` for a folder, and for what is far larger than files of keys.
    private static func text(_ path: String) -> String? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular, (attributes?[.size] as? Int ?? .max) <= 1 << 20 else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = Pem.text(data)
        return text.contains("-----BEGIN ") ? text : nil
    }

    private static func moment(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }
}
