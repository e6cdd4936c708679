/// XML to be written: always compact, because apps collapse white space in what they pass on (mvpd §2.8).
package indirect enum XmlNode: Sendable {
    /// A name with its prefix, attributes (one without value is left out), children.
    case element(String, KeyValuePairs<String, String?>, [XmlNode])
    case text(String)
    /// XML that is already written, such as a signed assertion; its octets must not change.
    case written(String)

    package static func element(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:]) -> XmlNode { .element(name, attributes, []) }

    package func serialized() -> String {
        var output = ""
        write(to: &output)
        return output
    }

    private func write(to output: inout String) {
        switch self {
        case .text(let text): Self.escape(text, into: &output)
        case .written(let xml): output += xml
        case .element(let name, let attributes, let children):
            output += "<\(name)"
            for case (let key, let value?) in attributes {
                output += " \(key)=\""
                Self.escape(value, into: &output)
                output += "\""
            }
            if children.isEmpty {
                output += "/>"
                return
            }
            output += ">"
            for child in children { child.write(to: &output) }
            output += "</\(name)>"
        }
    }

    // White space other than a blank would be normalised away inside attributes, so it is written as a reference everywhere.
    private static func escape(_ text: String, into output: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "\"": output += "&quot;"
            case "\t", "\n", "\r": output += "&#\(scalar.value);"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: output += "\u{FFFD}"
            default: output.unicodeScalars.append(scalar)
            }
        }
    }
}

/// Namespaces and algorithm names of XML signature, XML encryption and SAML 2.0.
package enum XmlNames {
    package static let signature = "http://www.w3.org/2000/09/xmldsig#"
    package static let encryption = "http://www.w3.org/2001/04/xmlenc#"
    package static let exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
    package static let assertion = "urn:oasis:names:tc:SAML:2.0:assertion"
    package static let `protocol` = "urn:oasis:names:tc:SAML:2.0:protocol"
    package static let metadata = "urn:oasis:names:tc:SAML:2.0:metadata"
    package static let soap = "http://schemas.xmlsoap.org/soap/envelope/"
    package static let decisionContext = "urn:oasis:names:tc:xacml:2.0:context:schema:os"
    package static let decisionPolicy = "urn:oasis:names:tc:xacml:2.0:policy:schema:os"
    package static let decisionAssertion = "urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:assertion"
    package static let decisionProtocol = "urn:oasis:names:tc:xacml:2.0:profile:saml2.0:v2:schema:protocol"
    package static let postBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
    package static let redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"

    package static func keyInfo(_ certificate: Certificate) -> XmlNode {
        .element(
            "ds:KeyInfo", [:],
            [
                .element("ds:X509Data", [:], [.element("ds:X509Certificate", [:], [.text(certificate.base64)])])
            ])
    }
}
