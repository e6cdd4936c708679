/// Text is written in XML and HTML in this way. `&`, `<` and `>` are escaped everywhere; the rest depends on where a text stands and on who reads it.
///
/// It goes by Unicode scalar, not by `Character`: a quotation mark with a combining accent ends an attribute all the same.
public struct MarkupEscapes: Sendable {
    /// The substitute of some characters.
    private enum Form {
        case kept
        /// A reference by number, which parsers do not change.
        case reference
        case text(String)

        func substitute(for scalar: Unicode.Scalar) -> String? {
            switch self {
            case .kept: nil
            case .reference: "&#\(scalar.value);"
            case .text(let text): text
            }
        }
    }

    private var quotationMark = Form.text("&quot;")
    private var apostrophe = Form.kept
    /// Tab and line feed.
    private var tabAndLineFeed = Form.kept
    private var carriageReturn = Form.kept
    /// What XML 1.0 cannot hold in any form: other control characters, U+FFFE and U+FFFF.
    private var impossible = Form.kept

    /// Text and attributes of HTML.
    public static let html = MarkupEscapes(apostrophe: .text("&#39;"))
    /// Text and attributes of a file for tools, of characters that XML can hold.
    public static let xml = MarkupEscapes()
    /// Text of an element, never an attribute, of characters that XML can hold. A parser reads exactly that text.
    public static let xmlText = MarkupEscapes(quotationMark: .kept, carriageReturn: .reference)
    /// Text and attributes of documents for apps, of anything that a provider may have sent.
    public static let xmlDocument = MarkupEscapes(apostrophe: .text("&apos;"), carriageReturn: .reference, impossible: .text("\u{FFFD}"))
    /// Text and attributes of SAML messages. White space in attributes stays what it is, too.
    public static let xmlMessage = MarkupEscapes(tabAndLineFeed: .reference, carriageReturn: .reference, impossible: .text("\u{FFFD}"))
    /// Text and attributes of reports in XML and HTML, each value on one line.
    public static let report = MarkupEscapes(
        apostrophe: .text("&#39;"), tabAndLineFeed: .text(" "), carriageReturn: .text(" "), impossible: .text(" "))

    public func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: Self.mayNeedEscape) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    public func append(_ text: String, to bytes: inout [UInt8]) {
        guard text.utf8.contains(where: Self.mayNeedEscape) else {
            bytes.append(contentsOf: text.utf8)
            return
        }
        for scalar in text.unicodeScalars {
            if let substitute = substitute(for: scalar) {
                bytes.append(contentsOf: substitute.utf8)
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
    }

    private func substitute(for scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": quotationMark.substitute(for: scalar)
        case "'": apostrophe.substitute(for: scalar)
        case "\t", "\n": tabAndLineFeed.substitute(for: scalar)
        case "\r": carriageReturn.substitute(for: scalar)
        case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": impossible.substitute(for: scalar)
        default: nil
        }
    }

    /// True for octets of all characters that have a substitute, and of some others: U+FFFE and U+FFFF begin with 0xEF.
    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), 0xEF: true
        default: false
        }
    }
}
