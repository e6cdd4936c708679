/// The languages of the pages that people see; English comes first, and stands in for texts that another one lacks.
package struct Languages: Sendable {
    package static let standard = "en"

    package let all: [PageLanguage]
    /// Texts of the operator's file that do not fit and need correction, one in each line.
    let warnings: [String]

    /// - Parameters:
    ///   - folder: The folder of the pages; the languages that a release has are in its `languages`.
    ///   - additional: Folder with more files; one for a language that is there replaces texts of it. `nil`: none.
    /// - Throws: `PagesError`, naming the file that is missing or broken.
    init(folder: String, additional: String?) throws {
        var files: [String: LanguageFile] = [:]
        for entry in try LanguageFile.list("\(folder)/languages") { files[entry.tag] = try LanguageFile.read(entry.file) }
        guard let english = files[Self.standard] else { throw PagesError(description: "folder of languages \(folder)/languages lacks en.json") }
        var warnings: [String] = []
        let own = try additional.map { try LanguageFile.list($0) } ?? []
        for (tag, file) in own {
            var read = try LanguageFile.read(file)
            for (key, text) in read.texts where Self.marks(text) != english.texts[key].map(Self.marks) || text.isEmpty {
                read.texts[key] = nil
                let reason = english.texts[key] == nil ? "is used nowhere" : "must have the same tags and places as in English, and some text"
                warnings.append("\(file): the text '\(key)' \(reason); it is left out")
            }
            files[tag] = files[tag].map { Self.merged($0, read) } ?? read
        }
        for (tag, file) in files {
            let lacking = english.texts.keys.filter { file.texts[$0] == nil }.sorted()
            if !lacking.isEmpty { warnings.append("language \(tag) lacks \(lacking.joined(separator: ", ")), which are in English") }
        }
        self.warnings = warnings.sorted()
        all = files.map { tag, file in
            PageLanguage(
                tag: tag, name: file.name ?? tag, direction: file.direction ?? "ltr", alphabet: Alphabet(file.alphabet ?? ""),
                texts: english.texts.merging(file.texts) { _, own in own })
        }.sorted { ($0.tag == Self.standard ? 0 : 1, $0.tag) < ($1.tag == Self.standard ? 0 : 1, $1.tag) }
    }

    package var english: PageLanguage { all[0] }

    /// - Parameter wanted: In the form of `Accept-Language`.
    /// - Returns: The language that is wanted most; `nil` when none is.
    package func best(_ wanted: String) -> PageLanguage? {
        guard !wanted.isEmpty, let tag = AcceptedLanguages(wanted).best(of: all.map(\.tag)) else { return nil }
        return all.first { $0.tag == tag }
    }

    private static func merged(_ file: LanguageFile, _ other: LanguageFile) -> LanguageFile {
        LanguageFile(
            name: other.name ?? file.name, direction: other.direction ?? file.direction, alphabet: other.alphabet ?? file.alphabet,
            texts: file.texts.merging(other.texts) { _, own in own })
    }

    /// Tags of HTML and places of the template engine in a text: a translation must have the same.
    static func marks(_ text: String) -> [String] {
        (text.matches(of: /<[^>]*>?/).map { String($0.output) } + text.matches(of: /\{\{[^}]*\}?\}?/).map { String($0.output) }).sorted()
    }
}

/// The languages that `Accept-Language` asks for (RFC 9110 §12.5.4).
struct AcceptedLanguages {
    /// The part of the field that is read, in octets, and the number of its languages: browsers send less.
    private static let longestField = 512
    private static let mostRanges = 24

    private var ranges: [(tag: String, quality: Int)] = []

    init(_ field: String) {
        let known =
            field.utf8.count <= Self.longestField ? field[...] : Substring(String(decoding: field.utf8.prefix(Self.longestField), as: UTF8.self))
        for entry in known.split(separator: ",").prefix(Self.mostRanges) {
            let parts = entry.lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let tag = parts.first, !tag.isEmpty, tag.utf8.count <= 35 else { continue }
            ranges.append((tag, parts.dropFirst().first.map { QualityValue($0).thousandths } ?? 1000))
        }
    }

    /// - Parameter offered: Tags; the first one serves whoever wants another than those that are named.
    /// - Returns: The tag that is wanted most; `nil` when none is.
    func best(of offered: [String]) -> String? {
        var best: (tag: String, quality: Int, place: Int)?
        for tag in offered {
            let (quality, place) = quality(of: tag.lowercased())
            guard quality > 0 else { continue }
            if let known = best, (known.quality, -known.place) >= (quality, -place) { continue }
            best = (tag, quality, place)
        }
        return best?.tag
    }

    /// A range stands for a language when it names it, a part of it (`pt-BR` for `pt`), or the whole of it (`pt` for `pt-BR`). `*` stands for
    /// languages that nothing else names (RFC 4647 §3.4).
    /// - Returns: The quality, and the place of the range in the field.
    private func quality(of tag: String) -> (quality: Int, place: Int) {
        let named = ranges.enumerated().filter { Self.isPart($0.element.tag, of: tag) || Self.isPart(tag, of: $0.element.tag) }
        let candidates = named.isEmpty ? ranges.enumerated().filter { $0.element.tag == "*" } : named
        let best = candidates.max { ($0.element.quality, -$0.offset) < ($1.element.quality, -$1.offset) }
        return best.map { ($0.element.quality, $0.offset) } ?? (0, 0)
    }

    private static func isPart(_ narrow: String, of wide: String) -> Bool { narrow == wide || narrow.hasPrefix(wide + "-") }
}

/// The weight of a preference (RFC 9110 §12.4.2).
struct QualityValue: Comparable {
    /// 0, "not at all", to 1000.
    let thousandths: Int

    /// - Parameter text: `q=0.8`; what is none counts as 0, so that a broken one is not preferred.
    init(_ text: some StringProtocol) {
        var digits = text.utf8.dropFirst(2)
        guard text.utf8.count <= 7, text.lowercased().hasPrefix("q="), let first = digits.popFirst(), first == 0x30 || first == 0x31 else {
            thousandths = 0
            return
        }
        guard let point = digits.popFirst() else {
            thousandths = first == 0x31 ? 1000 : 0
            return
        }
        guard point == UInt8(ascii: "."), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            thousandths = 0
            return
        }
        var value = 0
        for place in 0..<3 {
            value *= 10
            if let digit = digits.dropFirst(place).first { value += Int(digit - 0x30) }
        }
        // More than 1 is none.
        thousandths = first == 0x31 ? (digits.allSatisfy { $0 == 0x30 } ? 1000 : 0) : value
    }

    static func < (first: Self, second: Self) -> Bool { first.thousandths < second.thousandths }
}
