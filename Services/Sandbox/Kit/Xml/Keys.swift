internal import CSandboxXml
package import Clocks
internal import FoundationEssentials

/// A private key of an identity provider.
// Sendable: the C object is never changed after loading, and OpenSSL locks its reference count.
package final class SandboxSigningKey: @unchecked Sendable {
    package let pointer: OpaquePointer

    /// Reads an unencrypted PEM private key.
    package init(pem: [UInt8]) throws(XmlRejection) {
        if let reason = Self.encryption(pem) { throw XmlRejection(reason: reason) }
        try XmlRejection.check(csandbox_start())
        var key: OpaquePointer?
        try XmlRejection.check(csandbox_key_load_private(pem, pem.count, &key))
        guard let key else { throw XmlRejection(reason: "not a private key") }
        pointer = key
    }

    /// The note about a key that is encrypted with a passphrase (RFC 7468 §11, RFC 1421 §4.6.1.1); `nil`: it is not.
    package static func encryption(_ pem: [UInt8]) -> String? {
        let text = String(decoding: pem, as: UTF8.self)
        guard ["BEGIN ENCRYPTED PRIVATE KEY", "DEK-Info:"].contains(where: text.contains) else { return nil }
        return "the key is encrypted with a passphrase; write it without one (openssl pkey -in FILE -out NEWFILE)"
    }

    /// Makes the RSA key of 2048 bits that belongs to a seed.
    /// - Parameter seed: 32 octets.
    package init(seed: [UInt8]) throws(XmlRejection) {
        var key: OpaquePointer?
        try XmlRejection.check(csandbox_key_make_rsa(seed, &key))
        guard let key else { throw XmlRejection(reason: "no key can be made") }
        pointer = key
    }

    deinit { csandbox_key_free(pointer) }

    /// Modulus and exponent of the RSA key, big-endian.
    package func publicNumbers() throws(XmlRejection) -> (modulus: [UInt8], exponent: [UInt8]) {
        (try XmlRejection.octets { csandbox_key_number(pointer, "n", $0) }, try XmlRejection.octets { csandbox_key_number(pointer, "e", $0) })
    }

    /// HMAC-SHA-256 under a secret that only this key and this purpose give; 32 octets.
    package func authenticationCode(of message: [UInt8], purpose: String) throws(XmlRejection) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        try XmlRejection.check(csandbox_key_mac(pointer, purpose, message, message.count, &code))
        return code
    }

    /// An RSA PKCS #1 v1.5 signature with SHA-256.
    package func sign(_ message: [UInt8]) throws(XmlRejection) -> [UInt8] {
        try XmlRejection.octets { csandbox_sign_octets(pointer, "SHA256", message, message.count, $0) }
    }

    package func matches(_ certificate: Certificate) -> Bool { csandbox_key_matches(pointer, certificate.pointer) }
}

/// A certificate with an RSA key of at least 2048 bits (mvpd §2.3 step 14).
// Sendable: the C object is never changed after loading, and OpenSSL locks its reference count.
package final class Certificate: @unchecked Sendable {
    package let pointer: OpaquePointer
    /// The DER form as base64 without line breaks, as `ds:X509Certificate` holds it.
    package let base64: String

    package init(pem: [UInt8]) throws(XmlRejection) {
        try XmlRejection.check(csandbox_start())
        var certificate: OpaquePointer?
        try XmlRejection.check(csandbox_key_load_certificate(pem, pem.count, &certificate))
        guard let certificate else { throw XmlRejection(reason: "not a PEM certificate") }
        pointer = certificate
        base64 = Data(try XmlRejection.octets { csandbox_certificate_der(certificate, $0) }).base64EncodedString()
    }

    deinit { csandbox_key_free(pointer) }

    /// Verifies an RSA PKCS #1 signature over octets.
    package func verify(_ signature: [UInt8], over message: [UInt8], digest: String) throws(XmlRejection) {
        try XmlRejection.check(csandbox_verify_octets(pointer, digest, message, message.count, signature, signature.count))
    }
}

/// SHA-256 by OpenSSL.
package enum Digest {
    package static func sha256(_ octets: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        csandbox_sha256(octets, octets.count, &digest)
        return digest
    }
}

extension Certificate {
    /// Modulus and exponent of the RSA key, big-endian.
    package func publicNumbers() throws(XmlRejection) -> (modulus: [UInt8], exponent: [UInt8]) {
        let modulus = try XmlRejection.octets { csandbox_key_number(pointer, "n", $0) }
        let exponent = try XmlRejection.octets { csandbox_key_number(pointer, "e", $0) }
        return (modulus, exponent)
    }
}

/// Values that a browser keeps for the provider, so that a restart forgets no sign-in that is under way.
package struct Seal: Sendable {
    private let key: SandboxSigningKey

    package init(key: SandboxSigningKey) { self.key = key }

    private struct Content<Value: Codable>: Codable {
        let until: Timestamp
        let value: Value
    }

    /// - Parameter purpose: A value sealed for one purpose does not open for another.
    package func close(_ value: some Codable, purpose: String, until: Timestamp) throws -> String {
        let content = Array(try JSONEncoder().encode(Content(until: until, value: value)))
        return Base64.urlText(content) + "." + Base64.urlText(try key.authenticationCode(of: content, purpose: purpose))
    }

    /// - Returns: nil when the text is not a seal of this key for this purpose, or has expired.
    package func open<Value: Codable>(_ text: String, as type: Value.Type, purpose: String, at now: Timestamp) -> Value? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let content = Base64.urlOctets(String(parts[0])), let code = Base64.urlOctets(String(parts[1])),
            let expected = try? key.authenticationCode(of: content, purpose: purpose), Self.equal(code, expected),
            let opened = try? JSONDecoder().decode(Content<Value>.self, from: Data(content)), now < opened.until
        else { return nil }
        return opened.value
    }

    private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
