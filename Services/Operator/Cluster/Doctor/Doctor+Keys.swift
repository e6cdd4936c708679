internal import Clocks
internal import CommandKit
internal import Cryptography
internal import Foundation

extension Doctor {
    private static let day: Duration = .seconds(24 * 3600)
    /// `boxoffice pki` renews what has less time left.
    private static let renewal = 30

    /// Keys, secrets and tokens: there, this user's alone, and of the certificates beside them.
    func keys() -> [Finding] {
        let pki = LocalPki(folder: home.pki)
        guard isMade, FileManager.default.fileExists(atPath: home.pki.path) else { return [] }
        var findings: [Finding] = []
        let lacking = pki.lacking
        if lacking.count == LocalPki.files.count {
            return [.note(.keys, "there are no keys in \(home.pki.path) yet", advice: "./Services/up makes them, 'boxoffice pki' too")]
        }
        if !lacking.isEmpty {
            findings.append(
                .wrong(
                    .keys, "missing in \(home.pki.path): \(lacking.joined(separator: ", "))",
                    advice: "'boxoffice pki' makes what is missing; then run ./Services/up"))
        }
        let secrets = secretFiles
        for path in secrets {
            guard let mode = FileMode(path) else { continue }
            if access(path, R_OK) != 0 {
                findings.append(
                    .wrong(.keys, "this user may not read \(path)", advice: "run the cluster as the file's owner, or give it to this user (chown)"))
            }
            // Elsewhere a group may be there for those who need a key.
            if isOfHome(path) ? mode.isOpen : mode.isOpenToAll {
                findings.append(
                    .wrong(
                        .keys, "others may read \(path) (\(mode))", advice: "chmod 600 \(path); make the key anew if somebody else may have read it"))
            }
        }
        findings += mismatches(pki)
        return findings.isEmpty ? [.fine(.keys, "\(secrets.count) keys and secrets are there and this user's alone")] : findings
    }

    private func mismatches(_ pki: LocalPki) -> [Finding] {
        var findings: [Finding] = []
        let authority = try? Certificate(pemFile: pki.path("ca.crt"))
        for name in LocalPki.certified where ["crt", "key"].allSatisfy({ FileManager.default.fileExists(atPath: pki.path("\(name).\($0)")) }) {
            let (certificate, key) = (pki.path("\(name).crt"), pki.path("\(name).key"))
            let advice =
                "remove both and run 'boxoffice pki', which makes them anew; \(name == "ca" ? "all certificates follow it" : "then ./Services/up")"
            do {
                let pair = try CertifiedKey(certificateFile: certificate, keyFile: key)
                if LocalPki.peers.contains(name) || LocalPki.https.contains(name), let authority, !pair.certificate.isSigned(by: authority) {
                    findings.append(.wrong(.keys, "\(certificate) is not of the authority \(pki.path("ca.crt"))", advice: advice))
                }
            } catch CryptographyError.wrongKeyType {
                findings.append(.wrong(.keys, "\(certificate) and \(key) do not belong together", advice: advice))
            } catch {
                findings.append(.wrong(.keys, "\(certificate) or \(key) cannot be used: \(PlainReason.of(error))", advice: advice))
            }
        }
        return findings
    }

    /// When certificates end, and whether they have begun.
    func certificates() -> [Finding] {
        guard isMade else { return [] }
        var findings: [Finding] = []
        var soonest: (file: String, end: Timestamp)?
        for path in certificateFiles {
            let name = isOfHome(path) ? URL(fileURLWithPath: path).lastPathComponent : path
            let advice = isOfHome(path) ? "'boxoffice pki' makes it anew; running programs take it by themselves" : "renew it where it came from"
            guard let certificates = try? Certificate.all(pemFile: path), let end = certificates.map(\.notAfter).min() else {
                findings.append(.wrong(.certificates, "\(path) holds no certificate that can be read", advice: advice))
                continue
            }
            let left = Int((end - now) / Self.day)
            if end < now {
                findings.append(.wrong(.certificates, "\(name) ended at \(Self.text(end))", advice: advice))
            } else if left < Self.renewal {
                findings.append(.note(.certificates, "\(name) ends in \(left) days, at \(Self.text(end))", advice: advice))
            }
            if let begin = certificates.map(\.notBefore).max(), begin > now {
                findings.append(
                    .wrong(
                        .certificates, "\(name) is good from \(Self.text(begin)) on only, and the clock says \(Self.text(now))",
                        advice: "set the clock"))
            }
            if soonest.map({ end < $0.end }) ?? true { soonest = (name, end) }
        }
        guard findings.isEmpty else { return findings }
        return soonest.map { [.fine(.certificates, "the first that ends is \($0.file), at \(Self.text($0.end))")] } ?? []
    }

    static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }

    private func isOfHome(_ path: String) -> Bool { path.hasPrefix(home.root.path + "/") }

    private var files: Set<String> {
        let own = (try? FileManager.default.contentsOfDirectory(atPath: home.pki.path)) ?? []
        return namedFiles.union(own.filter { !$0.hasPrefix(".") }.map { home.pki.appendingPathComponent($0).path })
    }

    private var secretFiles: [String] {
        let endings = [".key", ".secret", ".token", ".password"]
        return files.filter { path in endings.contains { path.hasSuffix($0) } || Self.holds(path, "PRIVATE KEY-----") }.sorted()
    }

    private var certificateFiles: [String] {
        files.filter { $0.hasSuffix(".crt") || !$0.hasSuffix(".key") && Self.holds($0, "-----BEGIN CERTIFICATE-----") }.sorted()
    }

    private static func holds(_ path: String, _ text: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 64 * 1024))?.firstRange(of: Data(text.utf8)) != nil
    }
}
