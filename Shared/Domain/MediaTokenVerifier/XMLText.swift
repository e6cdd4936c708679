internal import Octets

/// Character data of an XML element.
public enum XMLText {
    /// Writes text so that an XML parser reads exactly it. White space that parsers would change becomes a reference.
    /// - Precondition: No control characters beside tab, line feed and carriage return: XML cannot hold them.
    public static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: isSpecial) else { return text }
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\r": escaped.append(contentsOf: "&#13;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "\r")
    }

    private static let named: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// - Returns: `nil` when a reference is broken or unknown.
    public static func unescape(_ raw: Substring.UnicodeScalarView) -> String? {
        guard raw.contains("&") else { return String(String.UnicodeScalarView(raw)) }
        var text = String.UnicodeScalarView()
        var rest = raw
        while let scalar = rest.first {
            rest = rest.dropFirst()
            guard scalar == "&" else {
                text.append(scalar)
                continue
            }
            let name = rest.prefix { $0 != ";" }
            rest = rest[name.endIndex...]
            guard rest.popFirst() == ";", let resolved = resolve(String(String.UnicodeScalarView(name))) else { return nil }
            text.append(resolved)
        }
        return String(text)
    }

    private static func resolve(_ reference: String) -> Unicode.Scalar? {
        guard reference.hasPrefix("#") else { return named[reference] }
        let digits = reference.dropFirst()
        let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap(Unicode.Scalar.init)
    }
}
