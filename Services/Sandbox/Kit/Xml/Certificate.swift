internal import CSandboxXml

internal import struct FoundationEssentials.Data

/// A certificate with an RSA key of at least 2048 bits (mvpd §2.3 step 14).
// Sendable: the C object is never changed after loading, and OpenSSL locks its reference count.
final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The DER form as base64 without line breaks, as `ds:X509Certificate` holds it.
    let base64: String

    init(pem: [UInt8]) throws(XmlRefusal) {
        try XmlRefusal.check(csandbox_start())
        var certificate: OpaquePointer?
        try XmlRefusal.check(csandbox_key_load_certificate(pem, pem.count, &certificate))
        guard let certificate else { throw XmlRefusal(reason: "not a PEM certificate") }
        pointer = certificate
        base64 = Data(try XmlRefusal.octets { csandbox_certificate_der(certificate, $0) }).base64EncodedString()
    }

    deinit { csandbox_key_free(pointer) }

    /// Verifies an RSA PKCS #1 signature over octets.
    func verify(_ signature: [UInt8], over message: [UInt8], digest: String) throws(XmlRefusal) {
        try XmlRefusal.check(csandbox_verify_octets(pointer, digest, message, message.count, signature, signature.count))
    }
}
