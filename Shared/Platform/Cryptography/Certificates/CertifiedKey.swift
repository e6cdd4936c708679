internal import Octets

/// A certificate and the private key that belongs to it.
public struct CertifiedKey: Sendable {
    public let certificate: Certificate
    public let key: PrivateKey

    /// - Throws: `CryptographyError.wrongKeyType` when they do not belong together.
    public init(certificate: Certificate, key: PrivateKey) throws(CryptographyError) {
        guard certificate.belongs(to: key) else { throw .wrongKeyType(expected: "the one in certificate \(certificate.subject)", found: "another") }
        self.certificate = certificate
        self.key = key
    }

    /// - Throws: `CryptographyError`.
    public init(certificateFile: String, keyFile: String) throws(CryptographyError) {
        try self.init(certificate: Certificate(pemFile: certificateFile), key: PrivateKey(pemFile: keyFile))
    }

    /// A self-signed certificate, for peers that pin it.
    /// - Parameters:
    ///   - commonName: 1 to 64 characters.
    ///   - key: A fresh P-256 key when absent.
    /// - Throws: `CryptographyError`.
    public static func selfSigned(
        commonName: String, key: PrivateKey? = nil, usage: CertificateUsage = .signing, names: CertificateNames = CertificateNames(),
        validity: CertificateValidity = .days(365)
    ) throws(CryptographyError) -> CertifiedKey {
        let key: PrivateKey = if let key { key } else { .p256(try .generate()) }
        let order = CertificateOrder(commonName: commonName, key: key, usage: usage, names: names, validity: validity)
        return try CertifiedKey(certificate: order.issue(by: nil), key: key)
    }
}
