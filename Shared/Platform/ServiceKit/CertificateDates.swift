internal import Clocks
internal import struct Contracts.CertificateEnd
internal import CoreMetrics
internal import Cryptography
internal import Synchronization

/// Tells Prometheus when the certificates end that the program was given as files. Files are read anew each hour, so that a renewed one counts
/// without a restart. One that cannot be read keeps its last date: that is another alarm's affair.
struct CertificateDates: Sendable {
    /// The use of a certificate, and the place of its file.
    let files: [(use: String, path: String)]
    /// Told of those that end soon, each time.
    var told: @Sendable ([CertificateEnd]) -> Void = { _ in }
    var clock: any WallClock = SystemClock()

    /// What ends within this time is told to callers.
    private static let soon: Duration = .seconds(60 * 86_400)
    /// Certificates that callers are told of.
    private static let most = 10
    /// Octets of a use.
    private static let longestUse = 100

    func run() async throws {
        while true {
            note()
            try await Task.sleep(for: .seconds(3600))
        }
    }

    func note() {
        let all = ends
        told(Self.soon(all, now: clock.now()))
        for (use, ends) in all {
            Gauge(label: "boxoffice_certificate_ends_timestamp_seconds", dimensions: [("certificate", use)]).record(Double(ends.seconds))
        }
    }

    /// Those that have ended or will soon, the first to end first.
    static func soon(_ ends: [(use: String, moment: Timestamp)], now: Timestamp) -> [CertificateEnd] {
        ends.filter { $0.moment < now + soon }.sorted { ($0.moment, $0.use) < ($1.moment, $1.use) }.prefix(most).map { use, moment in
            CertificateEnd(
                use: String(decoding: use.utf8.prefix(longestUse), as: UTF8.self), endsAtMilliseconds: UInt64(clamping: moment.milliseconds))
        }
    }

    /// The end of each; of several certificates in one file it is the one that ends first.
    var ends: [(use: String, moment: Timestamp)] {
        files.compactMap { use, path in (try? Certificate.all(pemFile: path))?.map(\.notAfter).min().map { (use, $0) } }
    }
}

extension ServiceEnvironment {
    /// Has Prometheus told when certificates end, beside those of the wire.
    /// - Parameter files: The use of each, as a label, and its path in the settings; `nil`: there is none.
    public func tellEnds(of files: KeyValuePairs<String, String?>) {
        parts.add(certificates: files.compactMap { use, path in path.map { (use, self.files.path($0)) } })
    }
}

/// States whether the certificate by which peers know this program, and the authority that they trust, are good now. A program starts without: good
/// files are taken in while it runs.
final class WireCertificate: Sendable {
    private struct Look {
        var moment: ContinuousClock.Instant
        var certificates: [(path: String, certificate: Certificate)]
    }

    /// Files are read this often: readiness is asked for several times a second.
    private static let interval: Duration = .seconds(5)

    private let paths: [String]
    private let clock: any WallClock
    private let look = Mutex<Look?>(nil)

    /// - Parameter paths: The paths of the program's certificate and of its trust anchors.
    init(_ paths: [String], clock: any WallClock) { (self.paths, self.clock) = (paths, clock) }

    /// The fault; `nil`: nothing, or the files cannot be read, which their reload says.
    var lacking: String? {
        let now = clock.now()
        return look.withLock { look in
            if look.map({ $0.moment.duration(to: .now) >= Self.interval }) ?? true { look = Look(moment: .now, certificates: read()) }
            for (path, certificate) in look?.certificates ?? [] {
                if certificate.notAfter < now { return "the certificate in \(path) has expired: replace it, and it is taken in" }
                if certificate.notBefore > now { return "the certificate in \(path) is not good yet: compare the clock" }
            }
            return nil
        }
    }

    /// The first one of a program's file is its own; one good one of several authorities is enough.
    private func read() -> [(path: String, certificate: Certificate)] {
        paths.enumerated().compactMap { index, path -> (path: String, certificate: Certificate)? in
            guard let all = try? Certificate.all(pemFile: path) else { return nil }
            let chosen = index == 0 ? all.first : all.max { $0.notAfter < $1.notAfter }
            return chosen.map { (path: path, certificate: $0) }
        }
    }
}
