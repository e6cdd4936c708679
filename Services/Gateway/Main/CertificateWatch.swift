internal import GatewayService
internal import Logging

/// Takes in a changed certificate of HTTPS: soon after its files change, and at once on SIGHUP.
struct CertificateWatch: Sendable {
    let certificate: HttpsCertificate
    let logger: Logger
    /// How often the files are looked at.
    private static let interval: Duration = .seconds(1)

    func run() async throws {
        while true {
            try await Task.sleep(for: Self.interval)
            reload(again: false)
        }
    }

    /// - Parameter again: True: says again what is wrong with files that were refused before.
    func reload(again: Bool) {
        do {
            guard try certificate.reload(again: again) else { return }
            logger.info("https.reloaded", metadata: ["certificate": "\(certificate.certificateFile)"])
        } catch {
            logger.error("https.reload_refused", metadata: ["reason": "\(error); the certificate from before stays"])
        }
    }
}
