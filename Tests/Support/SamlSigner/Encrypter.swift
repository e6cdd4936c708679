internal import Foundation

/// Encrypts an assertion with the `xmlsec1` program.
public struct Encrypter: Sendable {
    /// Algorithm URI of the content, and the program's name of the session key.
    public var content = (uri: "http://www.w3.org/2009/xmlenc11#aes128-gcm", sessionKey: "aes-128")
    /// Algorithm URI of the key transport.
    public var keyTransport = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"

    public init() {}

    /// The `EncryptedAssertion` that holds the assertion.
    public func encrypt(_ assertion: String, for recipient: SignerIdentity) throws -> String {
        let scratch = try Scratch()
        let template = try scratch.write(self.template, as: "template")
        let plaintext = try scratch.write(assertion, as: "plaintext")
        let certificate = try scratch.write(recipient.certificatePEM, as: "certificate")
        try Tool.run(
            "xmlsec1",
            [
                "--encrypt", "--pubkey-cert-pem", certificate, "--session-key", content.sessionKey, "--binary-data", plaintext, "--output",
                scratch.path("encrypted"), template,
            ])
        let encrypted = Signer.withoutDeclaration(String(decoding: try scratch.read("encrypted"), as: UTF8.self))
        return "<saml:EncryptedAssertion xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\">\(encrypted)</saml:EncryptedAssertion>"
    }

    private var template: String {
        """
        <xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Type="http://www.w3.org/2001/04/xmlenc#Element">\
        <xenc:EncryptionMethod Algorithm="\(content.uri)"/><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey>\
        <xenc:EncryptionMethod Algorithm="\(keyTransport)"/><xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedKey>\
        </ds:KeyInfo><xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedData>
        """
    }
}

extension Signer {
    /// Replaces the `EncryptedKey` of an encrypted assertion.
    /// - Parameters:
    ///   - encrypted: With one key, of RSA-OAEP with SHA-1.
    ///   - identity: The owner of the key.
    ///   - keys: Makes the new ones from the session key, with a digest and a mask as OpenSSL calls them, for an identity: base64.
    public static func rewrapping(
        _ encrypted: String, openedBy identity: SignerIdentity, _ keys: ((String, String, SignerIdentity) throws -> String) throws -> String
    ) throws -> String {
        guard let start = encrypted.range(of: "<xenc:EncryptedKey>"), let end = encrypted.range(of: "</xenc:EncryptedKey>"),
            let opening = encrypted.range(of: "<xenc:CipherValue>", range: start.upperBound..<end.lowerBound),
            let closing = encrypted.range(of: "</xenc:CipherValue>", range: opening.upperBound..<end.lowerBound),
            let wrapped = Data(base64Encoded: String(encrypted[opening.upperBound..<closing.lowerBound]), options: .ignoreUnknownCharacters)
        else { throw Tool.Failure(description: "there is no encrypted key") }
        let scratch = try Scratch()
        let options = ["-pkeyopt", "rsa_padding_mode:oaep"]
        let session = try Tool.run(
            "openssl",
            ["pkeyutl", "-decrypt", "-inkey", try scratch.write(identity.privateKeyPEM, as: "key"), "-in", try scratch.write(wrapped, as: "wrapped")]
                + options)
        let plain = try scratch.write(session, as: "session")
        let made = try keys { digest, mask, recipient in
            let certificate = try scratch.write(recipient.certificatePEM, as: "certificate")
            return try Tool.run(
                "openssl",
                ["pkeyutl", "-encrypt", "-certin", "-inkey", certificate, "-in", plain] + options
                    + ["-pkeyopt", "rsa_oaep_md:\(digest)", "-pkeyopt", "rsa_mgf1_md:\(mask)"]
            ).base64EncodedString()
        }
        return encrypted.replacingCharacters(in: start.lowerBound..<end.upperBound, with: made)
    }
}
