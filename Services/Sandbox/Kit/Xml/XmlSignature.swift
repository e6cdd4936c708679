internal import CSandboxXml

/// Enveloped XML signatures: RSA with SHA-256 over the exclusive canonical form.
///
/// It is written apart from the service provider that verifies them, from `PlayedMvpd` and from the tests' signer. So one error cannot be in all of
/// them.
package enum XmlSignature {
    /// The `ds:Signature` to place inside the element with this ID before ``sign(_:identifier:key:)``.
    package static func template(identifier: String, certificate: Certificate) -> XmlNode {
        .element(
            "ds:Signature", ["xmlns:ds": XmlNames.signature],
            [
                .element(
                    "ds:SignedInfo", [:],
                    [
                        method("ds:CanonicalizationMethod", XmlNames.exclusive),
                        method("ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
                        .element(
                            "ds:Reference", ["URI": "#\(identifier)"],
                            [
                                .element(
                                    "ds:Transforms", [:],
                                    [
                                        method("ds:Transform", XmlNames.signature + "enveloped-signature"),
                                        method("ds:Transform", XmlNames.exclusive),
                                    ]),
                                method("ds:DigestMethod", XmlNames.encryption + "sha256"),
                                .element("ds:DigestValue"),
                            ]),
                    ]),
                .element("ds:SignatureValue"),
                XmlNames.keyInfo(certificate),
            ])
    }

    /// Fills the template inside the element with the ID `identifier`.
    package static func sign(_ xml: String, identifier: String, key: SandboxSigningKey) throws(XmlRejection) -> String {
        let text = Array(xml.utf8)
        let signed = try XmlRejection.octets { csandbox_sign(text, text.count, identifier, key.pointer, $0) }
        return String(decoding: signed, as: UTF8.self)
    }

    /// Verifies the signature of the root element.
    /// - Returns: The octets that were digested: the only ones to read afterwards (mvpd §2.3 step 17).
    package static func verified(_ xml: [UInt8], with certificate: Certificate) throws(XmlRejection) -> [UInt8] {
        try XmlRejection.octets { csandbox_verify_root(xml, xml.count, certificate.pointer, $0) }
    }

    private static func method(_ name: String, _ algorithm: String) -> XmlNode { .element(name, ["Algorithm": algorithm]) }
}

/// XML encryption to a service provider: AES-256-GCM, the content key wrapped by rsa-oaep-mgf1p (mvpd §2.3 step 18).
package enum XmlEncryption {
    /// A `saml:EncryptedAssertion` that holds the text.
    package static func encryptedAssertion(_ assertion: String, to recipient: Certificate) throws(XmlRejection) -> String {
        let template = Array(template.serialized().utf8)
        let plain = Array(assertion.utf8)
        let sealed = try XmlRejection.octets {
            csandbox_encrypt(template, template.count, plain, plain.count, 256, recipient.pointer, $0)
        }
        return String(decoding: sealed, as: UTF8.self)
    }

    private static var template: XmlNode {
        .element(
            "saml:EncryptedAssertion", ["xmlns:saml": XmlNames.assertion],
            [
                .element(
                    "xenc:EncryptedData", ["xmlns:xenc": XmlNames.encryption, "Type": XmlNames.encryption + "Element"],
                    [
                        .element("xenc:EncryptionMethod", ["Algorithm": "http://www.w3.org/2009/xmlenc11#aes256-gcm"]),
                        .element("ds:KeyInfo", ["xmlns:ds": XmlNames.signature], [encryptedKey]),
                        cipherData,
                    ])
            ])
    }

    private static var encryptedKey: XmlNode {
        .element(
            "xenc:EncryptedKey", [:],
            [
                .element(
                    "xenc:EncryptionMethod", ["Algorithm": XmlNames.encryption + "rsa-oaep-mgf1p"],
                    [
                        .element("ds:DigestMethod", ["Algorithm": XmlNames.signature + "sha1"])
                    ]),
                cipherData,
            ])
    }

    private static var cipherData: XmlNode { .element("xenc:CipherData", [:], [.element("xenc:CipherValue")]) }
}
