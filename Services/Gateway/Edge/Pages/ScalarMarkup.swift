internal import Mustache

/// Escapes text for HTML scalar by scalar.
///
/// The library does it character by character, and a quotation mark with a combining accent is another character than a quotation mark: a browser ends the
/// attribute there all the same.
struct ScalarMarkup: MustacheContentType {
    private static let name = "SCALAR_HTML"
    /// At the beginning of each template.
    static let pragma = "{{% CONTENT_TYPE: \(name)}}\n"

    static func install() { MustacheContentTypes.register(ScalarMarkup(), named: name) }

    func escapeText(_ text: String) -> String {
        guard text.utf8.contains(where: Self.isMarkup) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isMarkup(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        default: false
        }
    }
}
