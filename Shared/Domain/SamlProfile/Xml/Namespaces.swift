/// XML namespaces of the messages.
enum Namespaces {
    static let assertion: StaticString = "urn:oasis:names:tc:SAML:2.0:assertion"
    static let `protocol`: StaticString = "urn:oasis:names:tc:SAML:2.0:protocol"
    static let metadata: StaticString = "urn:oasis:names:tc:SAML:2.0:metadata"
    static let userInterface: StaticString = "urn:oasis:names:tc:SAML:metadata:ui"
    static let signature: StaticString = "http://www.w3.org/2000/09/xmldsig#"
    static let encryption: StaticString = "http://www.w3.org/2001/04/xmlenc#"
    static let encryption11: StaticString = "http://www.w3.org/2009/xmlenc11#"
    static let exclusiveCanonicalization: StaticString = "http://www.w3.org/2001/10/xml-exc-c14n#"
    static let envelopedSignature: StaticString = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
    static let soap: StaticString = "http://schemas.xmlsoap.org/soap/envelope/"
    static let decisionContext: StaticString = "urn:oasis:names:tc:xacml:2.0:context:schema:os"
    static let decisionPolicy: StaticString = "urn:oasis:names:tc:xacml:2.0:policy:schema:os"
    static let decisionAssertion: StaticString = "urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:assertion"
    static let decisionProtocol: StaticString = "urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:protocol"
    static let proxiedMvpd: StaticString = "http://tve.adobe.com/data/proxiedmvpd"
    static let thirdParty: StaticString = "urn:oasis:names:tc:SAML:protocol:ext:third-party"
}
