/// Namespaces and algorithm names of XML signature, XML encryption and SAML 2.0.
enum XmlNames {
    static let signature = "http://www.w3.org/2000/09/xmldsig#"
    static let encryption = "http://www.w3.org/2001/04/xmlenc#"
    static let exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
    static let assertion = "urn:oasis:names:tc:SAML:2.0:assertion"
    static let `protocol` = "urn:oasis:names:tc:SAML:2.0:protocol"
    static let metadata = "urn:oasis:names:tc:SAML:2.0:metadata"
    static let postBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
    static let redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"

    static func keyInfo(_ certificate: Certificate) -> XmlNode {
        .element(
            "ds:KeyInfo", [:],
            [
                .element("ds:X509Data", [:], [.element("ds:X509Certificate", [:], [.text(certificate.base64)])])
            ])
    }
}
