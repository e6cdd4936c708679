internal import SandboxKit

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
