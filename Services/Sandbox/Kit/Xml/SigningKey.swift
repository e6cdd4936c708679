internal import CSandboxXml

/// A private key of an identity provider.
// Sendable: the C object is never changed after loading, and OpenSSL locks its reference count.
final class SigningKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Reads an unencrypted PEM private key.
    init(pem: [UInt8]) throws(XmlRefusal) {
        if let reason = Self.encryption(pem) { throw XmlRefusal(reason: reason) }
        try XmlRefusal.check(csandbox_start())
        var key: OpaquePointer?
        try XmlRefusal.check(csandbox_key_load_private(pem, pem.count, &key))
        guard let key else { throw XmlRefusal(reason: "not a private key") }
        pointer = key
    }

    /// What is to be said of a key that is encrypted with a passphrase (RFC 7468 §11, RFC 1421 §4.6.1.1); `nil`: it is not.
    static func encryption(_ pem: [UInt8]) -> String? {
        let text = String(decoding: pem, as: UTF8.self)
        guard ["BEGIN ENCRYPTED PRIVATE KEY", "DEK-Info:"].contains(where: text.contains) else { return nil }
        return "the key is encrypted with a passphrase; write it without one (openssl pkey -in FILE -out NEWFILE)"
    }

    /// Makes the RSA key of 2048 bits that belongs to a seed.
    /// - Parameter seed: 32 octets.
    init(seed: [UInt8]) throws(XmlRefusal) {
        var key: OpaquePointer?
        try XmlRefusal.check(csandbox_key_make_rsa(seed, &key))
        guard let key else { throw XmlRefusal(reason: "no key can be made") }
        pointer = key
    }

    deinit { csandbox_key_free(pointer) }

    /// Modulus and exponent of the RSA key, big-endian.
    func publicNumbers() throws(XmlRefusal) -> (modulus: [UInt8], exponent: [UInt8]) {
        (try XmlRefusal.octets { csandbox_key_number(pointer, "n", $0) }, try XmlRefusal.octets { csandbox_key_number(pointer, "e", $0) })
    }

    /// HMAC-SHA-256 under a secret that only this key and this purpose give; 32 octets.
    func authenticationCode(of message: [UInt8], purpose: String) throws(XmlRefusal) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        try XmlRefusal.check(csandbox_key_mac(pointer, purpose, message, message.count, &code))
        return code
    }

    /// An RSA PKCS #1 v1.5 signature with SHA-256.
    func sign(_ message: [UInt8]) throws(XmlRefusal) -> [UInt8] {
        try XmlRefusal.octets { csandbox_sign_octets(pointer, "SHA256", message, message.count, $0) }
    }

    func matches(_ certificate: Certificate) -> Bool { csandbox_key_matches(pointer, certificate.pointer) }
}
