internal import CSandboxXml

/// A public key of P-256 that a team registered with Apple.
// Sendable: the C object is never changed after loading, and OpenSSL locks its reference count.
final class VerificationKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Reads a SubjectPublicKeyInfo in PEM.
    init(pem: [UInt8]) throws(XmlRefusal) {
        var key: OpaquePointer?
        try XmlRefusal.check(csandbox_key_load_public_p256(pem, pem.count, &key))
        guard let key else { throw XmlRefusal(reason: "not a PEM public key") }
        pointer = key
    }

    deinit { csandbox_key_free(pointer) }

    /// Whether this is an ES256 signature in the form of JWS; one in DER is not.
    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        csandbox_verify_es256(pointer, message, message.count, signature, signature.count) == nil
    }
}
