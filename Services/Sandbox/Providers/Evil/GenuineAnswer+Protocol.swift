internal import SandboxKit
internal import Clocks

extension GenuineAnswer {
    /// Well signed and yet wrong (mvpd #65 to #78).
    func protocolViolation(_ attack: Attack, _ now: Timestamp) throws -> String {
        let hour = Duration.seconds(3600)
        func inside(_ name: String, _ change: @escaping (String) throws -> String) throws -> String {
            try resigned { assertion in
                let old = try startTag(name, in: assertion)
                return try replacing(old, change(old), in: assertion)
            }
        }
        switch attack {
        case .expired:
            return try inside("saml:Conditions") { tag in
                try withAttribute("NotOnOrAfter", Instant.text(now - hour), in: withAttribute("NotBefore", Instant.text(now - hour - hour), in: tag))
            }
        case .notYetValid: return try inside("saml:Conditions") { try withAttribute("NotBefore", Instant.text(now + hour), in: $0) }
        case .noConfirmationEnd: return try inside("saml:SubjectConfirmationData") { try withAttribute("NotOnOrAfter", nil, in: $0) }
        case .confirmationBegins:
            return try inside("saml:SubjectConfirmationData") {
                try replacing(" Recipient=", " NotBefore=\"\(Instant.text(now))\" Recipient=", in: $0)
            }
        case .foreignRecipient:
            return try inside("saml:SubjectConfirmationData") { try withAttribute("Recipient", "https://elsewhere.example/acs", in: $0) }
        case .holderOfKey:
            return try inside("saml:SubjectConfirmation") { try withAttribute("Method", "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key", in: $0) }
        case .foreignAudience: return try audience { _ in Self.restriction("https://elsewhere.example") }
        case .noAudience: return try audience { _ in "" }
        case .secondAudience: return try audience { $0 + Self.restriction("https://elsewhere.example") }
        case .unknownCondition: return try audience { $0 + "<saml:Condition></saml:Condition>" }
        case .foreignIssuer:
            return try resigned { try replacing(element("saml:Issuer", in: $0), "<saml:Issuer>https://elsewhere.example</saml:Issuer>", in: $0) }
        case .foreignNameFormat:
            return try inside("saml:NameID") { try withAttribute("Format", "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress", in: $0) }
        case .futureSignIn: return try inside("saml:AuthnStatement") { try withAttribute("AuthnInstant", Instant.text(now + hour), in: $0) }
        case .noStatement: return try resigned { try replacing(element("saml:AuthnStatement", in: $0), "", in: $0) }
        case .foreignDestination: return try outer { try withAttribute("Destination", "https://elsewhere.example/acs", in: $0) }
        case .unsolicited: return try outer { try withAttribute("InResponseTo", nil, in: $0) }
        case .foreignRequest: return try outer { try withAttribute("InResponseTo", "_somebody-elses", in: $0) }
        case .stale: return try outer { try withAttribute("IssueInstant", Instant.text(now - hour), in: $0) }
        case .withoutAssertion: return try replacing(element("saml:Assertion"), "")
        case .failureWithAssertion: return try replacing("status:Success", "status:Requester")
        default: throw NotFound(name: attack.rawValue)
        }
    }

    /// Changes the response's own start tag.
    private func outer(_ change: (String) throws -> String) throws -> String {
        let old = try startTag("samlp:Response", in: text)
        return try replacing(old, change(old))
    }

    private func audience(_ change: @escaping (String) -> String) throws -> String {
        try resigned { assertion in
            let old = try element("saml:AudienceRestriction", in: assertion)
            return try replacing(old, change(old), in: assertion)
        }
    }

    private static func restriction(_ audience: String) -> String {
        "<saml:AudienceRestriction><saml:Audience>\(audience)</saml:Audience></saml:AudienceRestriction>"
    }

    private func startTag(_ name: String, in text: String) throws -> String {
        guard let start = text.firstRange(of: "<\(name) "), let end = text[start.upperBound...].firstIndex(of: ">") else {
            throw NotFound(name: name)
        }
        return String(text[start.lowerBound...end])
    }
}
