/// Namespaces and algorithm names of XML signature, XML encryption and SAML 2.0.
enum XmlNames {
    static let signature = "http://www.w3.org/2000/09/xmldsig#"
    static let encryption = "http://www.w3.org/2001/04/xmlenc#"
    static let exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
    static let assertion = "urn:oasis:names:tc:SAML:2.0:assertion"
    static let `protocol` = "urn:oasis:names:tc:SAML:2.0:protocol"
    static let metadata = "urn:oasis:names:tc:SAML:2.0:metadata"
    static let soap = "http://schemas.xmlsoap.org/soap/envelope/"
    static let decisionContext = "urn:oasis:names:tc:xacml:2.0:context:schema:os"
    static let decisionPolicy = "urn:oasis:names:tc:xacml:2.0:policy:schema:os"
    static let decisionAssertion = "urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:assertion"
    static let decisionProtocol = "urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:protocol"
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
