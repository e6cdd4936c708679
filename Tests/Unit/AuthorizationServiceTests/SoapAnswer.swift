import SamlSigner

/// A decision point's answer in SOAP as a well-behaved MVPD writes it, with every part open to change.
struct SoapAnswer: Sendable {
    static let issuer = "https://idp.cable.example/metadata"
    static let serviceProvider = "https://saml.sp.pass.example"
    static let identity = Result { try SignerIdentity(commonName: "pdp.cable.example") }

    var issuer: String? = Self.issuer
    var assertionIssuer = Self.issuer
    /// The service's clock shows 10:00.
    var issueInstant = "2031-03-04T09:59:58Z"
    var inResponseTo: String?
    var status = "urn:oasis:names:tc:SAML:2.0:status:Success"
    var notBefore = "2031-03-04T09:59:00Z"
    var notOnOrAfter: String? = "2031-03-04T10:10:00Z"
    var audience: String? = Self.serviceProvider + "/on-behalf-of/CHAN7"
    var result = XacmlXml.result("Permit", resource: "CHAN7-HD")
    var signsResponse = true
    var signsAssertion = false
    /// XML in front of the body.
    var header = ""
    /// XML behind the assertion.
    var tail = ""

    init(_ change: (inout SoapAnswer) -> Void = { _ in }) { change(&self) }

    func text(signedBy identity: SignerIdentity? = nil) throws -> String {
        let signer = try identity ?? Self.identity.get()
        var template = ResponseTemplate()
        template.destination = nil
        template.inResponseTo = inResponseTo
        template.issuer = issuer
        template.issueInstant = issueInstant
        template.status = [status]
        template.signature = signsResponse ? SignatureTemplate() : nil
        template.content = assertion + tail
        var xml = template.xml
        if signsAssertion { xml = try Signer.sign(xml, signatureOf: "Assertion", with: signer) }
        if signsResponse { xml = try Signer.sign(xml, signatureOf: "Response", with: signer) }
        return Self.envelope(xml, header: header)
    }

    static func envelope(_ content: String, header: String = "") -> String {
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\">\(header)<s:Body>\(content)</s:Body></s:Envelope>"
    }

    var assertion: String {
        let end = notOnOrAfter.map { " NotOnOrAfter=\"\($0)\"" } ?? ""
        let restriction = audience.map { "<saml:AudienceRestriction><saml:Audience>\($0)</saml:Audience></saml:AudienceRestriction>" } ?? ""
        return """
            <saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_decision-1" Version="2.0" IssueInstant="\(issueInstant)">\
            <saml:Issuer>\(assertionIssuer)</saml:Issuer>\(signsAssertion ? SignatureTemplate().xml(over: "_decision-1") : "")\
            <saml:Conditions NotBefore="\(notBefore)"\(end)>\(restriction)</saml:Conditions>\
            <xs:XACMLAuthzDecisionStatement xmlns:xs="urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:assertion">\
            \(XacmlXml.response(result))</xs:XACMLAuthzDecisionStatement></saml:Assertion>
            """
    }
}

/// Answers of the XACML 2.0 context.
enum XacmlXml {
    static func response(_ results: String...) -> String {
        "<Response xmlns=\"urn:oasis:names:tc:xacml:2.0:context:schema:os\">\(results.joined())</Response>"
    }

    static func result(_ decision: String, resource: String? = nil, message: String? = nil, obligations: String = "") -> String {
        let id = resource.map { " ResourceId=\"\($0)\"" } ?? ""
        let text = message.map { "<StatusMessage>\($0)</StatusMessage>" } ?? ""
        let list =
            obligations.isEmpty ? "" : "<p:Obligations xmlns:p=\"urn:oasis:names:tc:xacml:2.0:policy:schema:os\">\(obligations)</p:Obligations>"
        return """
            <Result\(id)><Decision>\(decision)</Decision><Status><StatusCode Value="urn:oasis:names:tc:xacml:1.0:status:ok"/>\(text)</Status>\
            \(list)</Result>
            """
    }

    static func obligation(_ identifier: String, on effect: String, _ assignments: (String, String)...) -> String {
        let list = assignments.map {
            "<p:AttributeAssignment AttributeId=\"\($0)\" DataType=\"http://www.w3.org/2001/XMLSchema#string\">\($1)</p:AttributeAssignment>"
        }
        return "<p:Obligation ObligationId=\"\(identifier)\" FulfillOn=\"\(effect)\">\(list.joined())</p:Obligation>"
    }
}
