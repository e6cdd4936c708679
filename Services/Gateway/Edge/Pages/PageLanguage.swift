internal import FoundationEssentials

/// A language of the pages: its texts, and what else they have to know of it.
package struct PageLanguage: Sendable {
    /// As BCP 47 has it, for example `pt` or `pt-BR`.
    package let tag: String
    /// In the language itself.
    package let name: String
    /// `ltr` or `rtl`.
    let direction: String
    package let alphabet: Alphabet
    /// By their keys; may hold tags of HTML and places of the template engine.
    package let texts: [String: String]

    /// For what the program itself puts together.
    /// - Returns: Empty when there is no such text.
    package func text(_ key: String) -> String { texts[key] ?? "" }

    /// A template in this language: each `[[key]]` is its text.
    /// - Throws: `PagesError` when a text is missing.
    func written(_ template: String, file: String) throws -> String {
        var written = ""
        var rest = template[...]
        while let open = rest.utf8.firstRange(of: "[[".utf8), let close = rest[open.upperBound...].utf8.firstRange(of: "]]".utf8) {
            let key = String(rest[open.upperBound..<close.lowerBound])
            guard let text = value(key) else {
                throw PagesError(description: "page template \(file) names the text '\(key)', which is in no language file")
            }
            written += rest[..<open.lowerBound] + text
            rest = rest[close.upperBound...]
        }
        return written + rest
    }

    private func value(_ key: String) -> String? {
        switch key {
        case "tag": tag
        case "direction": direction
        default: texts[key]
        }
    }

    /// A day as people write it.
    package func date(_ date: (day: Int, month: Int, year: Int)) -> String {
        let months = text("date.months").split(separator: "|")
        guard months.indices.contains(date.month - 1) else { return "" }
        let parts = ["{{day}}": String(date.day), "{{month}}": String(months[date.month - 1]), "{{year}}": String(date.year)]
        return parts.reduce(text("date.format")) { text, part in text.replacing(part.key, with: part.value) }
    }
}

/// A file of texts: `<tag>.json` in the folder `languages` of the pages, or in the folder of the setting `gateway.languages`.
struct LanguageFile: Decodable {
    /// The language's own name; absent in a file that only replaces texts.
    var name: String?
    /// `ltr`, the default, or `rtl`.
    var direction: String?
    /// The alphabet differs from the usual one in this way; see `Alphabet`.
    var alphabet: String?
    var texts: [String: String]

    /// - Throws: `PagesError`, naming the file.
    static func read(_ file: String) throws -> Self {
        guard let content = FileManager.default.contents(atPath: file) else {
            throw PagesError(description: "language file \(file) cannot be read")
        }
        let read: Self
        do { read = try JSONDecoder().decode(Self.self, from: content) } catch {
            throw PagesError(description: "language file \(file) is no JSON object with 'texts', whose values are texts: \(error)")
        }
        guard ["ltr", "rtl"].contains(read.direction ?? "ltr") else {
            throw PagesError(description: "language file \(file): 'direction' must be ltr or rtl")
        }
        return read
    }

    /// - Returns: Tag and file of each language of a folder.
    /// - Throws: `PagesError` when it cannot be read, or a name is no tag.
    static func list(_ folder: String) throws -> [(tag: String, file: String)] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw PagesError(description: "folder of languages \(folder) cannot be read")
        }
        return try names.sorted().filter { $0.hasSuffix(".json") }.map { name in
            let tag = String(name.dropLast(5))
            guard isTag(tag) else {
                throw PagesError(description: "language file \(folder)/\(name): the name must be a language tag, for example it.json or pt-BR.json")
            }
            return (tag, "\(folder)/\(name)")
        }
    }

    private static func isTag(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let language = parts.first, (2...3).contains(language.utf8.count), text.utf8.count <= 35 else { return false }
        return parts.allSatisfy { part in
            (2...8).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20) }
        }
    }
}

/// A language orders letters in this way, where it differs from the usual order (CLDR's root collation, which English, French, German and Portuguese
/// have).
///
/// It is written as groups with a blank between. In each, the first letter is followed by letters of their own that come right after it, in their
/// order. `nñ` is Spanish; Swedish would be `zåäö`. A letter with a mark that is in no group counts as the letter without, and differs only where all
/// else is equal.
package struct Alphabet: Sendable {
    /// Place behind the first letter of the group, from 1.
    private let places: [Unicode.Scalar: (base: Unicode.Scalar, place: UInt8)]

    init(_ groups: String) {
        var places: [Unicode.Scalar: (base: Unicode.Scalar, place: UInt8)] = [:]
        for group in groups.lowercased().split(separator: " ") {
            let letters = Array(group.unicodeScalars.prefix(200))
            for (index, letter) in letters.enumerated().dropFirst() { places[letter] = (letters[0], UInt8(index)) }
        }
        self.places = places
    }

    /// - Parameter letter: In lower case.
    package func place(_ letter: Unicode.Scalar) -> (base: Unicode.Scalar, place: UInt8)? { places.isEmpty ? nil : places[letter] }
}
