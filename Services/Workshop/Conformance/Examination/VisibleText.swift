/// A service's text, made safe for a terminal and for reports: it must not move the cursor, change colours or turn the direction of writing.
enum VisibleText {
    /// - Returns: The text with `\u{…}` in place of each control, format and line separator character; `\n` and `\t` for these.
    static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        return text.unicodeScalars.reduce(into: "") { visible, scalar in
            switch scalar {
            case "\n": visible += #"\n"#
            case "\t": visible += #"\t"#
            case _ where isHidden(scalar): visible += #"\u{\#(String(scalar.value, radix: 16))}"#
            default: visible.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else { return scalar.value < 0x20 || scalar.value == 0x7f }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return true
        default: return false
        }
    }
}
