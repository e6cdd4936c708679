/// The TLS identity of a program lies here; all PEM.
public struct TlsFiles: Hashable, Sendable {
    /// The program's certificate, then those of intermediate authorities.
    public var certificate: String
    /// The private key of the certificate, without a passphrase.
    public var key: String
    /// The authorities whose certificates are accepted from peers.
    public var trustAnchors: String

    public init(certificate: String, key: String, trustAnchors: String) {
        self.certificate = certificate
        self.key = key
        self.trustAnchors = trustAnchors
    }
}
