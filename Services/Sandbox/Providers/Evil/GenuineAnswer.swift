/// A genuine answer as text, to be modified. The text is the sandbox's own compact form, so elements can be found by their names.
struct GenuineAnswer {
    var text: String
    let provider: IdentityProvider
    /// Of an MVPD that the service provider knows under another key.
    let stranger: IdentityProvider?

    struct NotFound: Error {
        let name: String
    }

    /// The first element of that name, which must not contain another of it.
    func element(_ name: String, in text: String? = nil) throws -> String {
        let text = text ?? self.text
        guard let start = text.firstRange(of: "<\(name) ") ?? text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { throw NotFound(name: name) }
        return String(text[start.lowerBound..<end.upperBound])
    }

    func replacing(_ old: String, _ new: String, in text: String? = nil) throws -> String {
        var text = text ?? self.text
        guard let range = text.firstRange(of: old) else { throw NotFound(name: old) }
        text.replaceSubrange(range, with: new)
        return text
    }

    /// The value of the first attribute of that name.
    func attribute(_ name: String, in text: String) throws -> String {
        guard let start = text.firstRange(of: " \(name)=\"")?.upperBound, let end = text[start...].firstIndex(of: "\"") else {
            throw NotFound(name: name)
        }
        return String(text[start..<end])
    }

    func withAttribute(_ name: String, _ value: String?, in text: String) throws -> String {
        let old = " \(name)=\"\(try attribute(name, in: text))\""
        return try replacing(old, value.map { " \(name)=\"\($0)\"" } ?? "", in: text)
    }

    /// The assertion about another person, with an ID of its own and without signature.
    func forgedAssertion(id: String = "_forged") throws -> String {
        let assertion = try element("saml:Assertion")
        let name = try element("saml:NameID", in: assertion)
        let forgedName = String(name.prefix { $0 != ">" }) + ">attacker</saml:NameID>"
        let renamed = try replacing(name, forgedName, in: assertion)
        return try withAttribute("ID", id, in: try replacing(try element("ds:Signature", in: renamed), "", in: renamed))
    }

    /// The answer with another assertion, validly signed by `signer`: every signature in it is made anew.
    func resigned(_ change: (String) throws -> String, by signer: IdentityProvider? = nil) throws -> String {
        let old = try element("saml:Assertion")
        let changed = try change(old)
        let signed = try sign(changed, signer ?? provider)
        let response = try replacing(old, signed)
        let isSigned = try response.components(before: "<saml:Assertion").contains("<ds:Signature")
        return isSigned ? try sign(response, signer ?? provider) : response
    }

    /// Makes the first signature of the element anew.
    func sign(_ text: String, _ signer: IdentityProvider) throws -> String {
        let identifier = try attribute("ID", in: text)
        let signature = try element("ds:Signature", in: text)
        let emptied = try replacing(
            try element("ds:SignatureValue", in: signature), "<ds:SignatureValue></ds:SignatureValue>",
            in: try replacing(try element("ds:DigestValue", in: signature), "<ds:DigestValue></ds:DigestValue>", in: signature))
        return try XmlSignature.sign(try replacing(signature, emptied, in: text), identifier: identifier, key: signer.key)
    }
}

extension String {
    fileprivate func components(before marker: String) throws -> String {
        guard let start = firstRange(of: marker)?.lowerBound else { throw GenuineAnswer.NotFound(name: marker) }
        return String(self[..<start])
    }
}
