internal import Foundation

/// Certificate and key that a person gave for the gateway's HTTPS.
struct HttpsFiles: Sendable {
    /// Absolute paths.
    let certificate: String
    let key: String

    init(certificate: String, key: String) {
        self.certificate = URL(fileURLWithPath: certificate).standardizedFileURL.path
        self.key = URL(fileURLWithPath: key).standardizedFileURL.path
    }
}
