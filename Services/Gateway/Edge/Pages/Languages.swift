/// The languages of the pages that people see; English comes first, and stands in for texts that another one lacks.
struct Languages: Sendable {
    static let standard = "en"

    let all: [PageLanguage]
    /// What an operator should correct: texts of a file of his that do not fit, one in each line.
    let warnings: [String]

    /// - Parameters:
    ///   - folder: Of the pages; the languages that a release has are in its `languages`.
    ///   - additional: Folder with more files; one for a language that is there replaces texts of it. `nil`: none.
    /// - Throws: `PagesProblem`, naming the file that is missing or broken.
    init(folder: String, additional: String?) throws {
        var files: [String: LanguageFile] = [:]
        for entry in try LanguageFile.list("\(folder)/languages") { files[entry.tag] = try LanguageFile.read(entry.file) }
        guard let english = files[Self.standard] else { throw PagesProblem(description: "folder of languages \(folder)/languages lacks en.json") }
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

    var english: PageLanguage { all[0] }

    /// - Parameter wanted: In the form of `Accept-Language`.
    /// - Returns: The language that is wanted most; `nil` when none is.
    func best(_ wanted: String) -> PageLanguage? {
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
