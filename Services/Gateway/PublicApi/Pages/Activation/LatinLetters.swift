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

    /// Pairs of a letter and the same with the mark: acute, grave, breve, circumflex, caron, ring, diaeresis, double acute, tilde, dot above, stroke, cedilla, ogonek,
    /// macron, comma below, dot below, hook and horn.
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
