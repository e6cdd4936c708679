internal import Foundation
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Testing

/// Names are ordered as people of a language look for them.
@Suite struct CollationTests {
    private static let spanish = Alphabet("nñ")

    @Test(
        arguments: [
            (
                "",
                ["Ačme", "Ad", "Älgo", "Az", "Éclair", "Ef", "Lodz", "Łódź", "Lz", "Masse", "Maße", "Mast", "Ñandú", "Nb", "Nz", "Oz", "São", "Sz"]
            ),
            ("nñ", ["Nb", "Nz", "Ñandú", "Oa"]), ("", ["cable", "Cable", "çable", "Çable", "Cable 1", "Cable 10", "Cablea"]),
            ("lł oó zźż", ["Lz", "Łódź", "Ma", "Oz", "Óa", "Za", "Źa", "Ża"]), ("zåäö", ["Az", "Za", "Åa", "Äa", "Öa"]),
            ("", ["1 TV", "A1", "Aætna", "AT&T", "ATT", "Афиша"]),
        ])
    func namesAreInOrder(alphabet: String, names: [String]) {
        let sorted = names.reversed().sorted { CollationKey($0, Alphabet(alphabet)) < CollationKey($1, Alphabet(alphabet)) }
        #expect(sorted == names)
    }

    @Test("300 names stand as Foundation orders them in each language", arguments: ["en", "es", "fr", "de", "pt"])
    func agreesWithFoundation(tag: String) {
        let alphabet = tag == "es" ? Self.spanish : Alphabet("")
        let locale = Locale(identifier: tag)
        var source = Sequence300()
        let names = source.names()
        let ours = names.sorted { CollationKey($0, alphabet) < CollationKey($1, alphabet) }
        let theirs = names.sorted { $0.compare($1, options: [], range: nil, locale: locale) == .orderedAscending }
        let place = zip(ours, theirs).enumerated().first { $0.element.0 != $0.element.1 }
        #expect(place == nil, "\(place.map { "\($0.offset): \($0.element)" } ?? "")")
    }

    @Test("composed and decomposed letters are the same")
    func normalForms() {
        let (composed, decomposed) = (CollationKey("São Łódź", Alphabet("")), CollationKey("Sa\u{303}o Ło\u{301}dz\u{301}", Alphabet("")))
        #expect(!(composed < CollationKey("Sao Lodz", Alphabet(""))) && !(decomposed < CollationKey("Sao Lodz", Alphabet(""))))
        #expect(CollationKey("Sao", Alphabet("")) < CollationKey("Sa\u{303}o", Alphabet("")), "a mark of its own counts")
        #expect(SearchText("Sa\u{303}o").words == SearchText("São").words)
    }

    @Test("each letter with a mark is one scalar, with its own letter without")
    func theTableIsSound() {
        for (scalar, base) in LatinLetters.base {
            let plain = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.first
            #expect(!scalar.isASCII && base.letter.isASCII)
            #expect(plain == base.letter || plain == scalar, "\(scalar)")
        }
        #expect(LatinLetters.base.count > 150)
    }

    @Test(
        arguments: [
            ("telecom", "Télécom Réunion", true), ("TELE reu", "Télécom Réunion", true), ("att", "AT&T", true), ("at&t", "AT&T", true),
            ("strasse", "Straße TV", true),
            ("lodz", "Łódź", true), ("nandu", "Ñandú", true), ("aeon", "Æon", true), ("cable net", "Cable", false), ("  ", "Cable", true),
            ("<b>", "Bee", true),
        ])
    func searchesAreForgiving(query: String, name: String, isFound: Bool) {
        #expect(SearchText(name).holds(SearchText(query)) == isFound)
    }
}

/// Names that are always the same, of parts that differ in letters, marks and case.
private struct Sequence300 {
    private var state: UInt64 = 7
    private static let parts = [
        "Tele", "Télé", "comp", "Łódź", "Lodz", "Mün", "mun", "chen", "Cable", "cable", "net", "São", "Ñan", "nan", "Ström", "Strom", "Fiber",
        "Straße", "Strasse", "Zü",
        "rich", "Kabel", "ção", "cao", "Öst", "Æon", "Ørsted", "1", "10", "co",
    ]

    private mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func names() -> [String] {
        var names: Set<String> = []
        while names.count < 300 {
            let parts = (0..<3).map { _ in Self.parts[next(Self.parts.count)] }
            names.insert(parts.joined(separator: next(2) == 0 ? " " : ""))
        }
        return names.sorted()
    }
}
