internal import GatewayEdge

/// Orders names as people of a language look for them. Letters come first, then marks on them, then case (the three levels of UTS #10).
///
/// Foundation can do it too, with the tables of all languages: 4 to 8 ms for 300 names and 5 MB. This takes 0.5 ms.
struct CollationKey: Comparable {
    private var letters: [UInt32] = []
    private var marks: [UInt8] = []
    private var cases: [UInt8] = []

    init(_ text: String, _ alphabet: Alphabet) {
        for scalar in text.unicodeScalars { add(scalar, alphabet) }
    }

    static func < (first: Self, second: Self) -> Bool {
        if first.letters != second.letters { return first.letters.lexicographicallyPrecedes(second.letters) }
        if first.marks != second.marks { return first.marks.lexicographicallyPrecedes(second.marks) }
        return first.cases.lexicographicallyPrecedes(second.cases)
    }

    private mutating func add(_ scalar: Unicode.Scalar, _ alphabet: Alphabet) {
        if scalar.isASCII {
            let isUpper = (0x41...0x5A).contains(scalar.value)
            append(Self.weight(isUpper ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar), 0, isUpper)
        } else if LatinLetters.isMark(scalar) {
            if !marks.isEmpty { marks[marks.count - 1] = UInt8(clamping: (scalar.value & 0x7F) + 1) }
        } else {
            let lower = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
            let isUpper = lower != scalar
            if let (base, place) = alphabet.place(lower) {
                append(Self.weight(base) + UInt32(place), 0, isUpper)
            } else if let pair = LatinLetters.pairs[lower] {
                for letter in pair.unicodeScalars { append(Self.weight(letter), UInt8.max, isUpper) }
            } else if let (letter, mark) = LatinLetters.base[lower] {
                append(Self.weight(letter), mark, isUpper)
            } else {
                append(Self.weight(lower), 0, isUpper)
            }
        }
    }

    private mutating func append(_ weight: UInt32, _ mark: UInt8, _ isUpper: Bool) {
        letters.append(weight)
        marks.append(mark)
        cases.append(isUpper ? 1 : 0)
    }

    /// Blanks, then other signs, digits, and letters by their scripts; with room for a language's own letters behind each.
    private static func weight(_ scalar: Unicode.Scalar) -> UInt32 {
        let rank: UInt32 =
            switch scalar.properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control: 0
            case .decimalNumber: 2
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: 3
            default: 1
            }
        return rank << 29 | scalar.value << 8
    }
}

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

    /// True when each word of the query is somewhere in it.
    func holds(_ query: SearchText) -> Bool {
        query.words.split(separator: " ").allSatisfy { words.contains($0) || joined.contains($0) }
    }
}

/// Latin letters with marks, and pairs written as one letter, in lower case.
enum LatinLetters {
    /// A letter without its mark, and which mark it is: from 1, in the order in which names that differ in nothing else stand.
    static let base: [Unicode.Scalar: (letter: Unicode.Scalar, mark: UInt8)] = {
        var base: [Unicode.Scalar: (letter: Unicode.Scalar, mark: UInt8)] = [:]
        for (index, mark) in marks.enumerated() {
            for pair in mark.split(separator: " ") {
                let scalars = Array(pair.unicodeScalars)
                base[scalars[1]] = (scalars[0], UInt8(index + 1))
            }
        }
        return base
    }()

    /// Pairs of a letter and the same with the mark. The marks are acute, grave, breve, circumflex, caron, ring, diaeresis, double acute and tilde.
    /// Further ones are dot above, stroke, cedilla, ogonek, macron, comma below, dot below, hook and horn.
    private static let marks = [
        "aá cć eé gǵ ií kḱ lĺ mḿ nń oó pṕ rŕ sś uú wẃ yý zź", "aà eè iì nǹ oò uù wẁ yỳ", "aă eĕ gğ iĭ oŏ uŭ",
        "aâ cĉ eê gĝ hĥ iî jĵ oô sŝ uû wŵ yŷ zẑ", "aǎ cč dď eě gǧ iǐ kǩ lľ nň oǒ rř sš tť uǔ zž", "aå uů wẘ yẙ", "aä eë tẗ iï oö uü wẅ yÿ xẍ",
        "oő uű",
        "aã eẽ iĩ nñ oõ uũ vṽ yỹ", "aȧ bḃ cċ dḋ eė fḟ gġ hḣ mṁ nṅ oȯ pṗ rṙ sṡ tṫ wẇ xẋ yẏ zż", "dđ hħ lł oø tŧ bƀ", "cç eȩ gģ hḩ kķ lļ nņ rŗ sş tţ",
        "aą eę iį oǫ uų", "aā eē gḡ iī oō uū yȳ", "sș tț", "aạ bḅ dḍ eẹ hḥ iị kḳ lḷ mṃ nṇ oọ rṛ sṣ tṭ uụ vṿ wẉ yỵ zẓ", "aả eẻ iỉ oỏ uủ yỷ", "oơ uư",
    ]

    /// Letters that stand for two: they are ordered as these, and found by these.
    static let pairs: [Unicode.Scalar: String] = ["ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ŀ": "l", "ĳ": "ij"]

    /// Combining marks, which stand behind their letter where a text is not composed (U+0300 to U+036F).
    static func isMark(_ scalar: Unicode.Scalar) -> Bool { (0x300...0x36F).contains(scalar.value) }
}
