internal import GatewayEdge
internal import Logging

/// Takes in changed certificates of HTTPS: soon after their files change, and at once on SIGHUP.
struct CertificateWatch: Sendable {
    let certificates: [HttpsCertificate]
    let logger: Logger
    /// The files are looked at this often.
    private static let interval: Duration = .seconds(1)

    func run() async throws {
        for certificate in certificates { tellDoubts(certificate) }
        while true {
            try await Task.sleep(for: Self.interval)
            reload(again: false)
        }
    }

    /// - Parameter again: True: says again what is wrong with files that were refused before.
    func reload(again: Bool) {
        for certificate in certificates {
            do {
                guard try certificate.reload(again: again) else { continue }
                logger.info("https.reloaded", metadata: ["certificate": "\(certificate.certificateFile)"])
                tellDoubts(certificate)
            } catch {
                logger.error("https.reload_refused", metadata: ["reason": "\(error); the certificate from before stays"])
            }
        }
    }

    private func tellDoubts(_ certificate: HttpsCertificate) {
        for doubt in certificate.doubts { logger.warning("https.doubtful", metadata: ["reason": "\(doubt)"]) }
    }
}
