/// A response as a well-behaved MVPD writes it, with every part open to change.
public struct ResponseTemplate: Sendable {
    public static let assertionConsumerService = "https://sp.pass.example/sp/saml/SAMLAssertionConsumer"
    public static let identityProvider = "https://idp.harbor.example/metadata"
    public static let serviceProvider = "https://saml.sp.pass.example"
    public static let requestID = "_request-1"

    public var id = "_response-1"
    public var issueInstant = "2031-03-04T10:00:00Z"
    public var destination: String? = Self.assertionConsumerService
    public var inResponseTo: String? = Self.requestID
    public var issuer: String? = Self.identityProvider
    /// Status code URIs, outermost first.
    public var status = ["urn:oasis:names:tc:SAML:2.0:status:Success"]
    public var signature: SignatureTemplate?
    public var assertion: AssertionTemplate? = AssertionTemplate()
    /// XML that stands in the place of the assertion.
    public var content: String?
    /// XML before the status.
    public var extensions = ""

    public init() {}

    /// The response; its signatures are empty.
    public var xml: String {
        """
        <samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="\(id)" \
        Version="2.0" IssueInstant="\(issueInstant)"\(optional("Destination", destination))\(optional("InResponseTo", inResponseTo))>\
        \(issuer.map { "<saml:Issuer>\($0)</saml:Issuer>" } ?? "")\(signature?.xml(over: id) ?? "")\(extensions)\
        <samlp:Status>\(statusCodes)</samlp:Status>\(content ?? assertion?.xml ?? "")</samlp:Response>
        """
    }

    /// The response with every signature made.
    public func signed(by identity: SignerIdentity) throws -> String {
        var xml = xml
        if content == nil, assertion?.signature != nil { xml = try Signer.sign(xml, signatureOf: "Assertion", with: identity) }
        if signature != nil { xml = try Signer.sign(xml, signatureOf: "Response", with: identity) }
        return xml
    }

    private var statusCodes: String {
        status.reversed().reduce("") { inner, code in "<samlp:StatusCode Value=\"\(code)\">\(inner)</samlp:StatusCode>" }
    }
}
