internal import CXmlSec

/// The service provider's RSA key pair for its own messages, with the certificate that its metadata shows.
public struct SigningKey: Sendable {
    let key: KeyHandle
    /// The certificate (DER) of the key.
    public let certificate: [UInt8]

    /// - Parameters:
    ///   - pem: The private key, PEM, not encrypted.
    ///   - certificate: Its certificate, DER.
    /// - Throws: `SamlConfigurationError` when either cannot be used, the key is not RSA of at least 2048 bits, or they do not belong together.
    public init(pem: String, certificate: [UInt8]) throws(SamlConfigurationError) {
        key = try KeyHandle.privateKey(pem: pem)
        guard key.isRSA, key.isStrong else { throw SamlConfigurationError("The signing key is not RSA of at least 2048 bits.") }
        let published = try KeyHandle.certificate(der: certificate)
        guard cxs_key_matches(key.pointer, published.pointer) != 0 else {
            throw SamlConfigurationError("The signing certificate does not belong to the signing key.")
        }
        self.certificate = certificate
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256.
    func signature(of text: String) throws(SamlConfigurationError) -> [UInt8] {
        var length = 0
        let octets = Array(text.utf8)
        guard let signature = cxs_sign_octets(key.pointer, octets, octets.count, &length) else {
            throw SamlConfigurationError("The signing key does not sign.")
        }
        defer { cxs_free(signature) }
        return Array(UnsafeBufferPointer(start: signature, count: length))
    }

    /// Fills the signature template inside the document.
    func sign(_ document: String) throws(SamlConfigurationError) -> String {
        var length = 0
        let octets = Array(document.utf8)
        guard let signed = cxs_sign(octets, octets.count, key.pointer, &length) else {
            throw SamlConfigurationError("The signing key does not sign the document.")
        }
        defer { cxs_free(signed) }
        return String(cString: signed)
    }
}
