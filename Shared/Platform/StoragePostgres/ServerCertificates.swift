internal import COpenSSL
internal import CPostgres
internal import Clocks
internal import CoreMetrics
internal import Cryptography
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Storage

extension PostgresConnection {
    /// The certificate that a server shows, whoever issued it, also when it is over. Nothing but the wish for TLS is sent: the server's log says nothing of it. Blocks.
    /// - Parameter patience: The longest that it may take.
    /// - Returns: `nil`: the server is away, or has none.
    static func certificate(of host: PostgresOptions.Host, within patience: Duration = .seconds(2)) -> Certificate? {
        // Nothing of the account is told; the handshake comes before that.
        let parameters = [
            ("host", host.name), ("port", "\(host.port)"), ("user", "nobody"), ("dbname", "nobody"), ("passfile", "/dev/null/none"),
            ("sslmode", "require"), ("sslrootcert", "/dev/null/none"), ("sslcert", "/dev/null/none"), ("gssencmode", "disable"),
        ]
        guard let started = begin(parameters) else { return nil }
        defer { PQfinish(started) }
        let end = ContinuousClock.now + patience
        var events = CInt(POLLOUT)
        while PQstatus(started) != CONNECTION_BAD {
            guard pollOne(PQsocket(started), events, ContinuousClock.now.duration(to: end)) != nil else { return nil }
            let next = PQconnectPoll(started)
            if let shown = shownCertificate(started) { return shown }
            switch next {
            case PGRES_POLLING_READING: events = CInt(POLLIN)
            case PGRES_POLLING_WRITING: events = CInt(POLLOUT)
            default: return nil
            }
        }
        return nil
    }

    private static func shownCertificate(_ connection: OpaquePointer) -> Certificate? {
        guard let session = PQgetssl(connection).map({ OpaquePointer($0) }), let shown = SSL_get1_peer_certificate(session) else { return nil }
        defer { X509_free(shown) }
        let count = i2d_X509(shown, nil)
        guard count > 0 else { return nil }
        var octets = [UInt8](repeating: 0, count: Int(count))
        octets.withUnsafeMutableBufferPointer { buffer in
            var place = buffer.baseAddress
            _ = i2d_X509(shown, &place)
        }
        return try? Certificate(der: octets)
    }
}

/// Which certificate is over where a server is not trusted: OpenSSL only says that it is not.
enum CertificateVerdict {
    /// - Returns: `nil`: none is over, so that it is another reason.
    static func of(_ host: PostgresOptions.Host, _ tls: PostgresOptions.Tls?, now: Timestamp = Timestamp(milliseconds: WallTime.milliseconds))
        -> String?
    {
        let anchors = tls.flatMap { try? Certificate.all(pemFile: $0.trustAnchors) } ?? []
        if let shown = PostgresConnection.certificate(of: host), let words = state(of: shown, now) { return "its certificate \(words)" }
        // Several: one of a change of authority may be over.
        guard let tls, !anchors.isEmpty else { return nil }
        let lapsed = anchors.compactMap { state(of: $0, now) }
        return lapsed.count == anchors.count ? lapsed.first.map { "the authority in \(tls.trustAnchors) \($0)" } : nil
    }

    private static func state(of certificate: Certificate, _ now: Timestamp) -> String? {
        if certificate.notAfter < now { return "expired at \(moment(certificate.notAfter)): renew it" }
        if certificate.notBefore > now { return "is good from \(moment(certificate.notBefore)) on only, and the clock says \(moment(now))" }
        return nil
    }

    private static func moment(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }
}

/// Tells Prometheus when the certificates of servers end: each is asked for its own, those of standbys too, which count after a fail-over.
final class ServerCertificates: Sendable {
    /// Hosts that are asked.
    private static let most = 8
    /// How often, and how soon again where one gave no answer, in seconds.
    private static let (interval, retry) = (3600, 300)

    private let hosts: [PostgresOptions.Host]
    private let end = DispatchSemaphore(value: 0)

    init(_ options: PostgresOptions) { hosts = options.tls == nil ? [] : Array(options.hosts.filter { !$0.isSocket }.prefix(Self.most)) }

    /// Begins, on a thread of its own.
    func start() {
        guard !hosts.isEmpty else { return }
        let thread = Thread { [hosts, end] in
            while true {
                let areAll = Self.tell(hosts)
                guard end.wait(timeout: .now() + .seconds(areAll ? Self.interval : Self.retry)) == .timedOut else { return }
            }
        }
        thread.name = "store-dates"
        thread.start()
    }

    /// Ends it soon.
    func stop() { end.signal() }

    /// - Returns: True when each gave an answer.
    private static func tell(_ hosts: [PostgresOptions.Host]) -> Bool {
        let ends = hosts.compactMap { host in PostgresConnection.certificate(of: host).map { (host.name, $0.notAfter.seconds) } }
        for (name, moment) in Dictionary(ends, uniquingKeysWith: min) {
            Gauge(label: "boxoffice_certificate_ends_timestamp_seconds", dimensions: [("certificate", "database \(name)")]).record(Double(moment))
        }
        return ends.count == hosts.count
    }
}
