internal import Clocks
internal import SandboxKit

extension GenuineAnswer {
    /// The value of the SAMLResponse field.
    /// - Parameter canary: An address at which the test counts requests.
    func attacked(by attack: Attack, at now: Timestamp, canary: String) throws -> String {
        switch attack {
        case .urlSafeBase64: "-_" + Base64.text(Array(text.utf8)).dropFirst(2)
        case .brokenBase64: String(Base64.text(Array(text.utf8)).dropLast(3)) + " =="
        case .brokenText: Base64.text(Array(text.utf8.prefix(text.utf8.count - 20)) + [0xC3, 0x28] + Array(text.utf8.suffix(20)))
        case .size: String(repeating: "A", count: 300 * 1024)
        default: Base64.text(Array(try message(attack, now, canary).utf8))
        }
    }

    private func message(_ attack: Attack, _ now: Timestamp, _ canary: String) throws -> String {
        if let wrapped = try wrapped(attack) { return wrapped }
        if let changed = try changedSignature(attack, canary) { return changed }
        if let markup = try markup(attack, canary) { return markup }
        if let encrypted = try encrypted(attack) { return encrypted }
        return try protocolViolation(attack, now)
    }

    /// Signature wrapping: the signed element stays unchanged, and a forged one takes the place that readers look at (mvpd #21 to #28).
    private func wrapped(_ attack: Attack) throws -> String? {
        let assertion = try? element("saml:Assertion")
        guard let assertion else { return nil }
        let signature = try element("ds:Signature", in: assertion)
        func forgedWith(_ inner: String) throws -> String { try replacing("</saml:Issuer>", "</saml:Issuer>" + inner, in: forgedAssertion()) }
        switch attack {
        case .xsw1:
            let shell = try replacing("<ds:KeyInfo>", "<ds:Object>\(text)</ds:Object><ds:KeyInfo>", in: signature)
            return try replacing(assertion, forgedWith(shell), in: try withAttribute("ID", "_outer", in: text))
        case .xsw2:
            return try replacing(assertion, text + forgedWith(signature), in: try withAttribute("ID", "_outer", in: text))
        case .xsw3: return try replacing(assertion, forgedAssertion() + assertion)
        case .xsw4: return try replacing(assertion, forgedWith(assertion))
        case .xsw5:
            return try replacing(assertion, forgedWith(signature) + replacing(signature, "", in: assertion))
        case .xsw6:
            let stripped = try replacing(signature, "", in: assertion)
            return try replacing(assertion, forgedWith(replacing("</ds:Signature>", stripped + "</ds:Signature>", in: signature)))
        case .xsw7: return try replacing("<samlp:Status>", "<samlp:Extensions>\(forgedAssertion())</samlp:Extensions><samlp:Status>")
        case .xsw8:
            let stripped = try replacing(signature, "", in: assertion)
            let shell = try replacing("</ds:Signature>", "<ds:Object>\(stripped)</ds:Object></ds:Signature>", in: signature)
            return try replacing(assertion, forgedWith(shell))
        default: return nil
        }
    }

    private func encrypted(_ attack: Attack) throws -> String? {
        switch attack {
        case .rsa15: return try sign(try replacing("xmlenc#rsa-oaep-mgf1p", "xmlenc#rsa-1_5"), provider)
        case .changedKey: return try sign(try changedCipher(first: true), provider)
        case .changedCiphertext: return try sign(try changedCipher(first: false), provider)
        default: return nil
        }
    }

    /// One octet of the wrapped key, which comes first, or of the content.
    private func changedCipher(first: Bool) throws -> String {
        let opening = "<xenc:CipherValue>"
        let places = text.ranges(of: opening)
        guard let place = first ? places.first : places.last else { throw NotFound(name: opening) }
        var changed = text
        let at = changed.index(place.upperBound, offsetBy: 40)
        changed.replaceSubrange(at...at, with: changed[at] == "A" ? "B" : "A")
        return changed
    }
}

extension GenuineAnswer {
    /// Changes of the signature itself and of what it covers (mvpd #29 to #51).
    func changedSignature(_ attack: Attack, _ canary: String) throws -> String? {
        func reference(_ uri: String) throws -> String {
            try replacing(" URI=\"\(try attribute("URI", in: text))\"", " URI=\"\(uri)\"")
        }
        func algorithm(_ old: String, _ new: String) throws -> String { try replacing("Algorithm=\"\(old)\"", "Algorithm=\"\(new)\"") }
        let exclusive = XmlNames.exclusive
        let rsa = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
        let transform = "<ds:Transform Algorithm=\"\(exclusive)\"></ds:Transform>"
        let lastTransform = text.contains(transform) ? transform : "<ds:Transform Algorithm=\"\(exclusive)\"/>"
        func further(_ algorithm: String, _ content: String = "") throws -> String {
            try replacing(lastTransform, lastTransform + "<ds:Transform Algorithm=\"\(algorithm)\">\(content)</ds:Transform>")
        }
        switch attack {
        case .unsigned: return try replacing(try element("ds:Signature"), "")
        case .emptySignature: return try replacing(try element("ds:SignatureValue"), "<ds:SignatureValue></ds:SignatureValue>")
        case .noReference: return try replacing(try element("ds:Reference"), "")
        case .twoReferences: return try replacing(try element("ds:Reference"), try element("ds:Reference") + element("ds:Reference"))
        case .emptyReference: return try reference("")
        case .foreignReference: return try reference("#" + attribute("ID", in: text))
        case .xpointerReference: return try reference("#xpointer(id('\(attribute("ID", in: try element("saml:Assertion")))'))")
        case .httpReference: return try reference(canary + "?reference")
        case .fileReference: return try reference("file:///etc/hostname")
        case .repeatedID:
            let id = try attribute("ID", in: try element("saml:Assertion"))
            return try replacing("<samlp:Status>", "<samlp:Extensions><x ID=\"\(id)\"/></samlp:Extensions><samlp:Status>")
        case .otherIDs:
            let id = try attribute("ID", in: try element("saml:Assertion"))
            return try replacing("<samlp:Status>", "<samlp:Extensions><x xml:id=\"\(id)\" id=\"\(id)\"/></samlp:Extensions><samlp:Status>")
        case .strangersKey: return try resigned({ $0 }, by: stranger)
        case .hmac: return try algorithm(rsa, "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256")
        case .noAlgorithm: return try algorithm(rsa, "none")
        case .sha1: return try algorithm(rsa, "http://www.w3.org/2000/09/xmldsig#rsa-sha1")
        case .md5: return try algorithm(XmlNames.encryption + "sha256", "http://www.w3.org/2001/04/xmldsig-more#md5")
        case .xslt: return try further("http://www.w3.org/TR/1999/REC-xslt-19991116")
        case .xpath: return try further("http://www.w3.org/TR/1999/REC-xpath-19991116", "<ds:XPath>not(ancestor-or-self::saml:Subject)</ds:XPath>")
        case .comments:
            return try replacing(
                "<ds:CanonicalizationMethod Algorithm=\"\(exclusive)\"", "<ds:CanonicalizationMethod Algorithm=\"\(exclusive)WithComments\"")
        case .furtherTransform: return try further(XmlNames.signature + "base64")
        case .relativeNamespace: return try replacing("<saml:Subject>", "<saml:Subject xmlns:x=\"relative\">")
        case .object: return try replacing("</ds:Signature>", "<ds:Object></ds:Object></ds:Signature>")
        case .manifest: return try replacing("<ds:Reference ", "<ds:Reference Type=\"http://www.w3.org/2000/09/xmldsig#Manifest\" ")
        case .unsignedStatus: return try replacing("status:Success", "status:Responder")
        case .changedOctet:
            let name = try element("saml:NameID")
            return try replacing(name, replacing("</saml:NameID>", "x</saml:NameID>", in: name))
        default: return nil
        }
    }
}

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
