internal import Clocks
internal import Cryptography
internal import Foundation
internal import StrictJson

/// Reads certificates of a catalogue: PEM in place, or `{"file": "relative/path.crt"}`.
final class CertificateReader {
    private let folder: String?
    private let now: Timestamp
    private let willRead: (String) -> Void
    private(set) var warnings: [CatalogueProblem] = []
    /// The certificates that files held, by their places in the document, as PEM.
    private(set) var inlined: [JsonPath: String] = [:]

    /// - Parameters:
    ///   - folder: Where relative paths start; `nil` for a document that may not name files.
    ///   - now: Decides what is expired.
    ///   - willRead: Called with the path of a file before it is read.
    init(folder: String?, now: Timestamp, willRead: @escaping (String) -> Void = { _ in }) {
        self.folder = folder
        self.now = now
        self.willRead = willRead
    }

    /// - Returns: DER, or `nil` after a problem.
    func certificate(_ value: JsonValue) -> [UInt8]? {
        guard let pem = pem(value) else { return nil }
        do {
            let certificate = try Certificate(pem: pem)
            guard check(certificate, value) else { return nil }
            if !value.isString { inlined[value.path] = try certificate.pem() }
            return certificate.der
        } catch {
            value.problem("is no PEM certificate (\(error))")
            return nil
        }
    }

    private func pem(_ value: JsonValue) -> String? {
        if value.isString { return value.string() }
        guard let folder else {
            value.problem("must be the text of a PEM certificate")
            return nil
        }
        var file: JsonValue?
        guard value.object({ file = $0.required("file") }) != nil, let file, let relative = file.string() else { return nil }
        let url = URL(fileURLWithPath: relative, relativeTo: URL(fileURLWithPath: folder, isDirectory: true)).standardizedFileURL
        willRead(url.path)
        guard let pem = try? String(contentsOf: url, encoding: .utf8) else {
            file.problem("names \(url.path), which does not exist or cannot be read as text")
            return nil
        }
        return pem
    }

    /// A key that is too weak refuses the certificate. Expiry does not: a pinned certificate is trusted for its key, and a login that stops
    /// at midnight helps nobody (mvpd §1.2: "expiry is an alarm, not a rejection").
    private func check(_ certificate: Certificate, _ value: JsonValue) -> Bool {
        do {
            _ = try certificate.publicKey()
        } catch {
            value.problem("has a key that is not accepted: RSA of 2048 bits or more, or P-256, is (\(error))")
            return false
        }
        if certificate.notAfter < now {
            warnings.append(CatalogueProblem(.warning, "\(value.path) (\(certificate.subject)) is expired; ask the provider for its new certificate"))
        } else if now < certificate.notBefore {
            warnings.append(CatalogueProblem(.warning, "\(value.path) (\(certificate.subject)) is not valid yet"))
        }
        return true
    }
}
