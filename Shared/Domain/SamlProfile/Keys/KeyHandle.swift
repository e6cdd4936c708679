internal import CXmlSec
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
