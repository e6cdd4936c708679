package import Clocks
internal import Cryptography
internal import Foundation
internal import StrictJson

/// Reads certificates and key sets of a catalogue: as text in place, or `{"file": "relative/path.crt"}`.
package final class CertificateReader {
    private let folder: String?
    let now: Timestamp
    private let willRead: (String) -> Void
    private(set) var warnings: [CatalogueProblem] = []
    /// The contents of files, by their places in the document, as text.
    private(set) var inlined: [JsonPath: String] = [:]

    /// A certificate becomes a warning this long before its end.
    private static let notice: Duration = .seconds(30 * 24 * 3600)

    /// - Parameters:
    ///   - folder: Where relative paths start; `nil` for a document that may not name files.
    ///   - now: Decides what is expired.
    ///   - willRead: Called with the path of a file before it is read.
    package init(folder: String?, now: Timestamp, willRead: @escaping (String) -> Void = { _ in }) {
        self.folder = folder
        self.now = now
        self.willRead = willRead
    }

    /// A certificate that is trusted for its key: a provider's.
    /// - Returns: DER, or `nil` after a problem.
    func certificate(_ value: JsonValue) -> [UInt8]? {
        guard let certificate = parsed(value) else { return nil }
        return check(certificate, value) ? certificate.der : nil
    }

    /// A certificate to whose key something can be encrypted: a programmer's (dashboard §2).
    /// - Parameter isRevoked: It is kept as a record only; that it has expired matters no more.
    /// - Returns: DER, or `nil` after a problem.
    func encryptionCertificate(_ value: JsonValue, isRevoked: Bool) -> [UInt8]? {
        guard let certificate = parsed(value) else { return nil }
        do {
            guard case .rsa = try certificate.publicKey() else {
                value.problem("must have an RSA key of 2048 bits or more: nothing can be encrypted to its key")
                return nil
            }
        } catch {
            value.problem("has a key that is not accepted: RSA of 2048 bits or more is (\(error))")
            return nil
        }
        if isRevoked { return certificate.der }
        if certificate.notAfter < now {
            warn("(\(certificate.subject)) is expired, and serves no longer", value)
        } else if now < certificate.notBefore {
            warn("(\(certificate.subject)) is not valid yet", value)
        } else if certificate.notAfter < now + Self.notice {
            warn("(\(certificate.subject)) expires within 30 days", value)
        }
        return certificate.der
    }

    /// The text of the file that a member `file` names.
    /// - Parameter owner: The value that stands for the file's content.
    func content(of file: JsonValue, for owner: JsonValue) -> String? {
        guard let relative = file.string() else { return nil }
        guard let folder else {
            owner.problem("must hold the text itself: files cannot be named here")
            return nil
        }
        let url = URL(fileURLWithPath: relative, relativeTo: URL(fileURLWithPath: folder, isDirectory: true)).standardizedFileURL
        willRead(url.path)
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            file.problem("names \(url.path), which does not exist or cannot be read as text")
            return nil
        }
        inlined[owner.path] = text
        return text
    }

    /// - Parameter message: Goes on from the path.
    private func warn(_ message: String, _ value: JsonValue) { warnings.append(CatalogueProblem(warning: message, at: value.path)) }

    private func parsed(_ value: JsonValue) -> Certificate? {
        guard let pem = pem(value) else { return nil }
        // The text of a key is repeated nowhere.
        guard !pem.contains("PRIVATE KEY") else {
            inlined[value.path] = nil
            value.problem("holds a private key; give the certificate alone, and take that key out of use")
            return nil
        }
        do {
            let certificates = try Certificate.all(pem: pem)
            guard certificates.count == 1 else {
                value.problem("must hold one certificate; it holds \(certificates.count)")
                return nil
            }
            // Without what a file may hold around it.
            if inlined[value.path] != nil { inlined[value.path] = try certificates[0].pem() }
            return certificates[0]
        } catch {
            value.problem("is no PEM certificate (\(error))")
            return nil
        }
    }

    private func pem(_ value: JsonValue) -> String? {
        if value.isString { return value.string() }
        var pem: String?
        value.object { object in pem = object.required("file").flatMap { content(of: $0, for: value) } }
        return pem
    }

    /// A key that is too weak refuses the certificate. Expiry does not. A pinned certificate is trusted for its key, and a login that stops at
    /// midnight helps nobody (mvpd §1.2: "expiry is an alarm, not a rejection").
    private func check(_ certificate: Certificate, _ value: JsonValue) -> Bool {
        do {
            _ = try certificate.publicKey()
        } catch {
            value.problem("has a key that is not accepted: RSA of 2048 bits or more, or P-256, is (\(error))")
            return false
        }
        if certificate.notAfter < now {
            warn("(\(certificate.subject)) is expired; ask the provider for its new certificate", value)
        } else if now < certificate.notBefore {
            warn("(\(certificate.subject)) is not valid yet", value)
        }
        return true
    }
}
