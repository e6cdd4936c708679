internal import Clocks
internal import Contracts
internal import CoreMetrics
internal import Cryptography

/// When the certificates end that the served version holds: of MVPDs, pinned for their answers, and of programmers, for whom metadata is encrypted. Of each
/// kind the one that ends first is told; the catalogue's warnings and the console name it.
enum CatalogueCertificates {
    private static let ofMvpds = Gauge(label: "boxoffice_certificate_ends_timestamp_seconds", dimensions: [("certificate", "mvpd")])
    private static let ofProgrammers = Gauge(label: "boxoffice_certificate_ends_timestamp_seconds", dimensions: [("certificate", "programmer")])

    static func tellEnds(of configuration: Configuration) {
        let pinned = configuration.mvpds.flatMap { mvpd in
            (mvpd.signIn?.pinned ?? []) + (mvpd.authorization?.signingCertificates ?? [])
        }
        let own = configuration.programmers.flatMap(\.certificates) + configuration.requestors.flatMap(\.certificates)
        tell(ofMvpds, pinned)
        tell(ofProgrammers, own.filter { !$0.revoked }.map(\.der))
    }

    private static func tell(_ gauge: Gauge, _ certificates: [[UInt8]]) {
        let ends = Set(certificates).compactMap { try? Cryptography.Certificate(der: $0).notAfter }.min()
        // Without certificates none ends.
        gauge.record(ends.map { Double($0.seconds) } ?? .infinity)
    }
}

extension Mvpd.SignIn {
    fileprivate var pinned: [[UInt8]] { if case .saml(let endpoint) = self { endpoint.signingCertificates } else { [] } }
}
