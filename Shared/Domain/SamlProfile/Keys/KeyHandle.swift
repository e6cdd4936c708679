internal import CXmlSec
public import Clocks
internal import Cryptography

/// Owner of a key of the C library.
///
/// `@unchecked Sendable`: the key is never changed between its creation and `deinit`, and the library only reads it or
/// counts references to it atomically (`EVP_PKEY_up_ref`).
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init?(_ pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { cxs_key_free(pointer) }

    var isRSA: Bool { cxs_key_get_kind(pointer) == CXS_KEY_RSA }
    var bits: Int { Int(cxs_key_get_bits(pointer)) }

    /// RSA of at least 2048 bits, or a curve of at least 256 (mvpd §2.3 step 14).
    var isStrong: Bool { isRSA ? bits >= 2048 : bits >= 256 }

    static func certificate(der: [UInt8]) throws(SamlConfigurationError) -> KeyHandle {
        guard cxs_initialize() == 0 else { throw SamlConfigurationError("The XML security library cannot be used.") }
        guard let key = KeyHandle(cxs_key_from_certificate(der, der.count)) else {
            throw SamlConfigurationError("The certificate is not DER of an X.509 certificate with an RSA or EC key.")
        }
        return key
    }

    static func privateKey(pem: String) throws(SamlConfigurationError) -> KeyHandle {
        guard cxs_initialize() == 0 else { throw SamlConfigurationError("The XML security library cannot be used.") }
        let text = Pem.text(pem)
        guard !Pem.holdsEncryptedKey(text) else {
            throw SamlConfigurationError(
                "The key is encrypted with a passphrase, which no service can be asked for. Write it without one (openssl pkey -in FILE -out NEWFILE)."
            )
        }
        let octets = Array(text.utf8)
        guard let key = KeyHandle(cxs_key_from_pem(octets, octets.count)) else {
            throw SamlConfigurationError("The key is not a PEM private key.")
        }
        return key
    }
}

/// A certificate of an MVPD; its key verifies the MVPD's signatures. Only the key counts: issuer and chain are not checked.
///
/// Making one costs a parse; keep it for as long as the endpoint's record does not change.
public struct PinnedCertificate: Sendable {
    let key: KeyHandle
    /// The certificate itself.
    public let der: [UInt8]

    /// - Throws: `SamlConfigurationError` when the octets are no certificate with an RSA or EC key.
    public init(der: [UInt8]) throws(SamlConfigurationError) {
        key = try KeyHandle.certificate(der: der)
        self.der = der
    }

    /// The certificate must not be pinned for this reason; nil when it may (mvpd #52). A weak key is also never used at a sign-in.
    public var weakness: String? {
        key.isStrong ? nil : "The certificate's key has \(key.bits) bits; RSA needs 2048, an elliptic curve 256."
    }

    /// The certificate ends at this time. That is an alarm for the operator and does not refuse a sign-in (mvpd §1.2).
    public var notAfter: Timestamp { Timestamp(seconds: cxs_key_get_not_after(key.pointer)) }
}

/// The service provider's RSA key pair for its own messages, with the certificate that its metadata shows.
public struct SamlSigningKey: Sendable {
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
