internal import TextEncodings

/// Writes elements of SVG; everything that is not markup is escaped.
struct Markup: Sendable {
    private(set) var text = ""

    /// - Parameters:
    ///   - name: The name of the element; from this program, never from a report.
    ///   - attributes: In their order; those without a value stay away.
    mutating func element(_ name: String, _ attributes: [(String, String?)], _ content: String? = nil) {
        open(name, attributes, isEmpty: content == nil)
        guard let content else { return }
        text += Self.escaped(content)
        close(name)
    }

    mutating func group(_ name: String, _ attributes: [(String, String?)], _ content: (inout Markup) -> Void) {
        open(name, attributes, isEmpty: false)
        content(&self)
        close(name)
    }

    private mutating func open(_ name: String, _ attributes: [(String, String?)], isEmpty: Bool) {
        text += "<\(name)"
        for case (let key, let value?) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
        text += isEmpty ? "/>" : ">"
    }

    private mutating func close(_ name: String) { text += "</\(name)>" }

    /// Safe in text and in quoted attributes; characters that XML does not have are left out.
    static func escaped(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter {
            $0 == "\n" || $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7f && $0.value & 0xfffe != 0xfffe)
        }
        return MarkupEscapes.html.escaped(String(String.UnicodeScalarView(scalars)))
    }

    /// A coordinate with one digit after the point.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)"
    }
}
