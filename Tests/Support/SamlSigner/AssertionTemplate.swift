/// An assertion as a well-behaved MVPD writes it, with every part open to change.
public struct AssertionTemplate: Sendable {
    public struct Confirmation: Sendable {
        public var method = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
        public var recipient: String? = ResponseTemplate.assertionConsumerService
        public var notBefore: String?
        public var notOnOrAfter: String? = "2031-03-04T10:05:00Z"
        public var inResponseTo: String? = ResponseTemplate.requestID

        public init() {}
    }

    public var id = "_assertion-1"
    public var issuer = ResponseTemplate.identityProvider
    public var issueInstant = "2031-03-04T10:00:00Z"
    public var nameID = "k3Yq-0091"
    public var nameIDAttributes = "Format=\"urn:oasis:names:tc:SAML:2.0:nameid-format:persistent\""
    public var confirmations = [Confirmation()]
    public var notBefore: String? = "2031-03-04T09:59:30Z"
    public var notOnOrAfter: String? = "2031-03-04T10:05:00Z"
    public var audiences = [[ResponseTemplate.serviceProvider]]
    /// XML of further conditions.
    public var furtherConditions = ""
    public var authnInstant = "2031-03-04T09:59:55Z"
    public var sessionNotOnOrAfter: String?
    public var hasAuthnStatement = true
    /// XML of the attributes.
    public var attributes = Self.attribute("householdID", ["house-7"])
    public var signature: SignatureTemplate? = SignatureTemplate()
    /// Declarations and attributes of the `Assertion` element itself.
    public var declarations = ""

    public init() {}

    /// One `Attribute` with text values.
    public static func attribute(_ name: String, _ values: [String]) -> String {
        let values = values.map { "<saml:AttributeValue>\($0)</saml:AttributeValue>" }
        return "<saml:Attribute Name=\"\(name)\">\(values.joined())</saml:Attribute>"
    }

    public var xml: String {
        """
        <saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" \(declarations) ID="\(id)" Version="2.0" IssueInstant="\(issueInstant)">\
        <saml:Issuer>\(issuer)</saml:Issuer>\(signature?.xml(over: id) ?? "")<saml:Subject><saml:NameID \(nameIDAttributes)>\(nameID)</saml:NameID>\
        \(confirmations.map(\.xml).joined())</saml:Subject>\(conditions)\(authnStatement)\
        <saml:AttributeStatement>\(attributes)</saml:AttributeStatement></saml:Assertion>
        """
    }

    private var conditions: String {
        let restrictions = audiences.map { audiences in
            let names = audiences.map { "<saml:Audience>\($0)</saml:Audience>" }
            return "<saml:AudienceRestriction>\(names.joined())</saml:AudienceRestriction>"
        }
        let period = optional("NotBefore", notBefore) + optional("NotOnOrAfter", notOnOrAfter)
        return "<saml:Conditions\(period)>\(restrictions.joined())\(furtherConditions)</saml:Conditions>"
    }

    private var authnStatement: String {
        guard hasAuthnStatement else { return "" }
        return """
            <saml:AuthnStatement AuthnInstant="\(authnInstant)" SessionIndex="_session-9"\(optional("SessionNotOnOrAfter", sessionNotOnOrAfter))>\
            <saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport\
            </saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>
            """
    }
}

extension AssertionTemplate.Confirmation {
    fileprivate var xml: String {
        let attributes =
            optional("Recipient", recipient) + optional("NotBefore", notBefore) + optional("NotOnOrAfter", notOnOrAfter)
            + optional("InResponseTo", inResponseTo)
        return """
            <saml:SubjectConfirmation Method="\(method)"><saml:SubjectConfirmationData\(attributes)/></saml:SubjectConfirmation>
            """
    }
}

func optional(_ name: String, _ value: String?) -> String { value.map { " \(name)=\"\($0)\"" } ?? "" }
