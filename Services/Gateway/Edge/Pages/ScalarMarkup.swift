internal import Mustache
internal import TextEncodings

/// Escapes text for HTML scalar by scalar.
///
/// The library escapes character by character, and a quotation mark with a combining accent is another character than a quotation mark. A browser
/// ends the attribute there all the same.
struct ScalarMarkup: MustacheContentType {
    private static let name = "SCALAR_HTML"
    /// At the beginning of each template.
    static let pragma = "{{% CONTENT_TYPE: \(name)}}\n"

    static func install() { MustacheContentTypes.register(ScalarMarkup(), named: name) }

    func escapeText(_ text: String) -> String { MarkupEscapes.html.escaped(text) }
}
