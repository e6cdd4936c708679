internal import Clocks
internal import CoreMetrics
internal import Cryptography

/// Tells Prometheus when the certificates end that the program was given as files. Files are read anew each hour, so that a renewed one counts without a
/// restart; one that cannot be read keeps its last date: that is another alarm's affair.
struct CertificateDates: Sendable {
    /// What a certificate is for, and where it lies.
    let files: [(use: String, path: String)]

    func run() async throws {
        while true {
            note()
            try await Task.sleep(for: .seconds(3600))
        }
    }

    func note() {
        for (use, ends) in ends {
            Gauge(label: "boxoffice_certificate_ends_timestamp_seconds", dimensions: [("certificate", use)]).record(Double(ends.seconds))
        }
    }

    /// Of several certificates in one file the one that ends first.
    var ends: [(use: String, moment: Timestamp)] {
        files.compactMap { use, path in (try? Certificate.all(pemFile: path))?.map(\.notAfter).min().map { (use, $0) } }
    }
}

extension ServiceEnvironment {
    /// Has Prometheus told when certificates end, beside those of the wire.
    /// - Parameter files: What each is for, as a label, and its path in the settings; `nil`: there is none.
    public func tellEnds(of files: KeyValuePairs<String, String?>) {
        parts.add(certificates: files.compactMap { use, path in path.map { (use, self.files.path($0)) } })
    }
}
