internal import Octets
internal import Foundation

/// A provider's SAML response in the form that the exchange accepts (client-sdk §2.1).
package enum PlatformAnswerText {
    /// Runs of blanks and tabs become one blank, line breaks and blanks at the ends are removed; then UTF-8 in Base64.
    package static func encoded(_ response: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in response.unicodeScalars {
            switch scalar {
            case "\n", "\r": continue
            case " ", "\t": if text.last != " " { text.append(" ") }
            default: text.append(scalar)
            }
        }
        if text.first == " " { text.removeFirst() }
        if text.last == " " { text.removeLast() }
        return Data(String(text).utf8).base64EncodedString()
    }
}
