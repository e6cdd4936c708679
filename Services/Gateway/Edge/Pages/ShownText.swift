/// A name of a device, channel or provider as a page shows it.
///
/// Signs that turn the direction of what follows, or that nobody sees, are left out: with them a name could look like another one.
struct ShownText {
    /// At most 80 characters.
    let text: String

    private static let most = 80

    init(_ name: String) {
        var shown = String.UnicodeScalarView()
        // No name that anybody could read is longer; characters may have any number of marks.
        for scalar in name.unicodeScalars.prefix(Self.most * 4) where !Self.isHidden(scalar) { shown.append(scalar) }
        let text = String(shown)
        self.text = text.count > Self.most ? text.prefix(Self.most - 1) + "…" : text
    }

    /// One or two letters in place of a logo.
    var initials: String {
        let words = text.split { !$0.isLetter && !$0.isNumber }.prefix(2)
        return words.compactMap(\.first).map { String($0.unicodeScalars.prefix(3)) }.joined().uppercased()
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Marks, embeddings, overrides and isolates of direction; the zero-width space.
        case 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: scalar.properties.generalCategory == .control
        }
    }
}
