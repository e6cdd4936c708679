/// A language of the pages: its texts, and what else they have to know of it.
struct PageLanguage: Sendable {
    /// As BCP 47 has it, for example `pt` or `pt-BR`.
    let tag: String
    /// In the language itself.
    let name: String
    /// `ltr` or `rtl`.
    let direction: String
    let alphabet: Alphabet
    /// By their keys; may hold tags of HTML and places of the template engine.
    let texts: [String: String]

    /// For what the program itself puts together.
    /// - Returns: Empty when there is no such text.
    func text(_ key: String) -> String { texts[key] ?? "" }

    /// A template in this language: each `[[key]]` is its text.
    /// - Throws: `PagesProblem` when a text is missing.
    func written(_ template: String, file: String) throws -> String {
        var written = ""
        var rest = template[...]
        while let open = rest.utf8.firstRange(of: "[[".utf8), let close = rest[open.upperBound...].utf8.firstRange(of: "]]".utf8) {
            let key = String(rest[open.upperBound..<close.lowerBound])
            guard let text = value(key) else {
                throw PagesProblem(description: "page template \(file) names the text '\(key)', which is in no language file")
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
    func date(_ date: (day: Int, month: Int, year: Int)) -> String {
        let months = text("date.months").split(separator: "|")
        guard months.indices.contains(date.month - 1) else { return "" }
        let parts = ["{{day}}": String(date.day), "{{month}}": String(months[date.month - 1]), "{{year}}": String(date.year)]
        return parts.reduce(text("date.format")) { text, part in text.replacing(part.key, with: part.value) }
    }
}
