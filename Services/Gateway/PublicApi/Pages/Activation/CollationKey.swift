/// Orders names as people of a language look for them: by letters, then by marks on them, then by case (the three levels of UTS #10).
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
