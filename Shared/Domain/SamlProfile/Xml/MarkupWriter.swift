internal import TextEncodings

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
        element(name, attributes) { $0.text += MarkupEscapes.xmlMessage.escaped(value) }
    }

    mutating func element(_ name: String, _ attributes: [(String, String?)] = []) {
        open(name, attributes)
        text += "/>"
    }

    private mutating func open(_ name: String, _ attributes: [(String, String?)]) {
        text += "<\(name)"
        for case (let name, let value?) in attributes { text += " \(name)=\"\(MarkupEscapes.xmlMessage.escaped(value))\"" }
    }
}
