/// A text as a search compares it: letters without marks and case, and blanks in place of all other signs. `picker.js` does the same in the browser.
struct SearchText {
    /// Words with one blank between them.
    let words: String
    /// The same without blanks: "at&t" is found by "att".
    private let joined: String

    init(_ text: String) {
        var words = ""
        for scalar in text.lowercased().unicodeScalars where !LatinLetters.isMark(scalar) {
            if let pair = LatinLetters.pairs[scalar] {
                words += pair
            } else if let (letter, _) = LatinLetters.base[scalar] {
                words.unicodeScalars.append(letter)
            } else if scalar.properties.isAlphabetic || scalar.properties.generalCategory == .decimalNumber {
                words.unicodeScalars.append(scalar)
            } else if !words.isEmpty, !words.hasSuffix(" ") {
                words += " "
            }
        }
        if words.hasSuffix(" ") { words.removeLast() }
        self.words = words
        joined = words.replacing(" ", with: "")
    }

    /// Whether each word of the query is somewhere in it.
    func holds(_ query: SearchText) -> Bool {
        query.words.split(separator: " ").allSatisfy { words.contains($0) || joined.contains($0) }
    }
}
