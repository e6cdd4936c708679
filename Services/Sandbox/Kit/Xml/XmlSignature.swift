internal import CSandboxXml

/// Enveloped XML signatures: RSA with SHA-256 over the exclusive canonical form.
///
/// Written apart from the service provider that verifies them, from `PlayedMvpd` and from the tests' signer, so that one error cannot be in all of them.
enum XmlSignature {
    /// The `ds:Signature` to place inside the element with this ID before ``sign(_:identifier:key:)``.
    static func template(identifier: String, certificate: Certificate) -> XmlNode {
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
    static func sign(_ xml: String, identifier: String, key: SigningKey) throws(XmlRefusal) -> String {
        let text = Array(xml.utf8)
        let signed = try XmlRefusal.octets { csandbox_sign(text, text.count, identifier, key.pointer, $0) }
        return String(decoding: signed, as: UTF8.self)
    }

    /// Verifies the signature of the root element.
    /// - Returns: The octets that were digested: the only ones to read afterwards (mvpd §2.3 step 17).
    static func verified(_ xml: [UInt8], with certificate: Certificate) throws(XmlRefusal) -> [UInt8] {
        try XmlRefusal.octets { csandbox_verify_root(xml, xml.count, certificate.pointer, $0) }
    }

    private static func method(_ name: String, _ algorithm: String) -> XmlNode { .element(name, ["Algorithm": algorithm]) }
}
