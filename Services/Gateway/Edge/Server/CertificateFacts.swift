internal import Clocks
internal import Cryptography
internal import FoundationEssentials

/// For whom and when a certificate is good, as it says itself.
struct CertificateFacts: Sendable {
    /// DNS names, lower case; a first label `*` stands for any one.
    private let names: [String]
    private let begin: Timestamp
    private let end: Timestamp

    /// What is to be said of its key; `nil`: nothing.
    let weakness: String?

    init(_ certificate: Certificate, weakness: String? = nil) {
        names = certificate.dnsNames.map { $0.lowercased() }
        (begin, end) = (certificate.notBefore, certificate.notAfter)
        self.weakness = weakness
    }

    /// As clients compare (RFC 6125 §6.4.3).
    /// - Parameter name: Lower case.
    func covers(_ name: String) -> Bool {
        names.contains { own in
            if own == name { return true }
            guard own.hasPrefix("*."), let dot = name.firstIndex(of: "."), dot != name.startIndex else { return false }
            return name[dot...] == own.dropFirst()
        }
    }

    /// - Throws: Whose it is, when it is not of that name.
    func require(_ name: String, in file: String) throws(HttpsProblem) {
        guard !covers(name) else { return }
        throw HttpsProblem(description: "\(owners(in: file)), not for '\(name)'; put a certificate there that has the name")
    }

    /// The beginning of a sentence.
    func owners(in file: String) -> String {
        let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
        return "the certificate in \(file) is for \(shown.isEmpty ? "no name" : shown)"
    }

    /// - Returns: `nil` from its beginning to its end.
    func problem(at now: Timestamp, in file: String) -> String? {
        if end < now { return "the certificate in \(file) ended at \(Self.text(end)); renew it" }
        if begin > now { return "the certificate in \(file) is good from \(Self.text(begin)) on only, and the clock says \(Self.text(now))" }
        return nil
    }

    private static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }
}
