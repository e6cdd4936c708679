public import Clocks
internal import Cryptography

/// A query for attributes of its bearer (SAML core §3.3.2.3): an alternative to an `AuthnRequest` for a platform's framework (mvpd §2.8).
///
/// When the query is made, it is not known who will sign in, and the framework identifies the person to the MVPD itself. So the subject has no
/// name: it is the bearer of the query.
public struct AttributeQuery: Hashable, Sendable {
    public var id: RequestID
    public var issuedAt: Timestamp
    /// The MVPD's single sign-on address.
    public var destination: String
    /// As an `AuthnRequest` would name it; an accepted audience of the answer.
    public var issuer: String
    /// `Name` of each attribute that is asked for; empty: all.
    public var attributeNames: [String]

    /// - Parameters:
    ///   - id: A fresh one for each query.
    ///   - issuedAt: `IssueInstant`.
    ///   - destination: The MVPD's single sign-on address.
    ///   - issuer: The issuer of an `AuthnRequest` for the same requestor.
    ///   - attributeNames: Empty: all.
    public init(id: RequestID, issuedAt: Timestamp, destination: String, issuer: String, attributeNames: [String]) {
        self.id = id
        self.issuedAt = issuedAt
        self.destination = destination
        self.issuer = issuer
        self.attributeNames = attributeNames
    }

    /// The query with an enveloped signature, base64: what a platform's framework carries.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func signedDocument(signedWith key: SigningKey) throws(SamlConfigurationError) -> String {
        Base64.standard.encode(Array(try key.sign(document(signatureFor: key.certificate)).utf8))
    }

    private func document(signatureFor certificate: [UInt8]) -> String {
        var writer = MarkupWriter()
        writer.element(
            "samlp:AttributeQuery",
            [
                ("xmlns:samlp", "\(Namespaces.protocol)"), ("xmlns:saml", "\(Namespaces.assertion)"), ("ID", id.rawValue),
                ("Version", "2.0"), ("IssueInstant", SamlInstant.format(issuedAt)), ("Destination", destination),
            ]
        ) { query in
            query.element("saml:Issuer", text: issuer)
            query.signatureTemplate(over: id.rawValue, certificate: certificate)
            query.element("saml:Subject") { $0.element("saml:SubjectConfirmation", [("Method", SamlURI.bearer)]) }
            for name in attributeNames { query.element("saml:Attribute", [("Name", name)]) }
        }
        return writer.text
    }
}
