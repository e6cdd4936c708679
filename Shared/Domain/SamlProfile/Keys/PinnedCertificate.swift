public import Clocks
internal import CXmlSec

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

    /// Why the certificate must not be pinned; nil when it may (mvpd #52). A weak key is also never used at a sign-in.
    public var weakness: String? {
        key.isStrong ? nil : "The certificate's key has \(key.bits) bits; RSA needs 2048, an elliptic curve 256."
    }

    /// When the certificate ends. That is an alarm for the operator and does not refuse a sign-in (mvpd §1.2).
    public var notAfter: Timestamp { Timestamp(seconds: cxs_key_get_not_after(key.pointer)) }
}
