/// Text of an MVPD on its way to a person (mvpd §4.2): one line, no control characters, at most 512 bytes.
enum MvpdText {
    static let largestByteCount = 512

    /// - Returns: `nil` when nothing is left.
    static func clean(_ text: String) -> String? {
        var line = String.UnicodeScalarView()
        var byteCount = 0
        var pendingBlank = false
        for scalar in text.unicodeScalars where !turnsDirection(scalar) {
            if isSeparator(scalar) {
                pendingBlank = !line.isEmpty
                continue
            }
            let needed = UTF8.width(scalar) + (pendingBlank ? 1 : 0)
            guard byteCount + needed <= largestByteCount else { break }
            if pendingBlank { line.append(" ") }
            pendingBlank = false
            line.append(scalar)
            byteCount += needed
        }
        return line.isEmpty ? nil : String(line)
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
        default: false
        }
    }

    /// Directional overrides and isolates could make the page around the text read otherwise.
    private static func turnsDirection(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
}
