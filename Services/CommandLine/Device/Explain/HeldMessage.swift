internal import Foundation

/// A SAML response as an engineer gets hold of one: XML, base64, or the body of the form that a browser posted.
enum HeldMessage {
    /// - Returns: The value of the `SAMLResponse` field.
    static func encoded(_ content: String) -> String {
        let text = content.trimmingCharacters(in: .whitespacesAndNewlines)
        if text.hasPrefix("<") || text.hasPrefix("\u{FEFF}") { return Data(content.utf8).base64EncodedString() }
        if let field = text.split(separator: "&").first(where: { $0.hasPrefix("SAMLResponse=") }) {
            let value = field.dropFirst("SAMLResponse=".count).replacingOccurrences(of: "+", with: " ")
            return value.removingPercentEncoding ?? value
        }
        // Mail and terminals break lines, and browsers show the field percent-encoded.
        let value = text.contains("%") ? text.removingPercentEncoding ?? text : text
        return value.components(separatedBy: .newlines).joined()
    }
}
