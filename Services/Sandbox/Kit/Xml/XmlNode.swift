/// XML to be written: always compact, because apps collapse white space in what they pass on (mvpd §2.8).
indirect enum XmlNode: Sendable {
    /// A name with its prefix, attributes (one without value is left out), children.
    case element(String, KeyValuePairs<String, String?>, [XmlNode])
    case text(String)
    /// XML that is already written, such as a signed assertion; its octets must not change.
    case written(String)

    static func element(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:]) -> XmlNode { .element(name, attributes, []) }

    func serialized() -> String {
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
