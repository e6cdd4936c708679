/// Writes XML: elements are nested by closures, and every value is escaped.
struct MarkupWriter {
    private(set) var text = ""

    /// - Parameters:
    ///   - name: The qualified name.
    ///   - attributes: Names and values; an attribute without a value is left out.
    ///   - content: Writes what is inside.
    mutating func element(_ name: String, _ attributes: [(String, String?)] = [], content: (inout MarkupWriter) -> Void) {
        open(name, attributes)
        text += ">"
        content(&self)
        text += "</\(name)>"
    }

    mutating func element(_ name: String, _ attributes: [(String, String?)] = [], text value: String) {
        element(name, attributes) { $0.text += Self.escaped(value) }
    }

    mutating func element(_ name: String, _ attributes: [(String, String?)] = []) {
        open(name, attributes)
        text += "/>"
    }

    private mutating func open(_ name: String, _ attributes: [(String, String?)]) {
        text += "<\(name)"
        for case (let name, let value?) in attributes { text += " \(name)=\"\(Self.escaped(value))\"" }
    }

    private static func escaped(_ value: String) -> String {
        var output = ""
        output.reserveCapacity(value.utf8.count)
        for character in value.unicodeScalars {
            switch character {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "\"": output += "&quot;"
            case "\t", "\n", "\r": output += "&#\(character.value);"
            case _ where isAllowed(character): output.unicodeScalars.append(character)
            default: output += "\u{FFFD}"
            }
        }
        return output
    }

    /// The `Char` production of XML 1.0; other characters cannot be written in any form.
    private static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}
