internal import CSandboxXml

/// XML encryption to a service provider: AES-256-GCM, the content key wrapped by rsa-oaep-mgf1p (mvpd §2.3 step 18).
enum XmlEncryption {
    /// A `saml:EncryptedAssertion` that holds the text.
    static func encryptedAssertion(_ assertion: String, to recipient: Certificate) throws(XmlRefusal) -> String {
        let template = Array(template.serialized().utf8)
        let plain = Array(assertion.utf8)
        let sealed = try XmlRefusal.octets {
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
