internal import FoundationEssentials

/// A file of texts: `<tag>.json` in the folder `languages` of the pages, or in the folder of the setting `gateway.languages`.
struct LanguageFile: Decodable {
    /// The language's own name; absent in a file that only replaces texts.
    var name: String?
    /// `ltr`, the default, or `rtl`.
    var direction: String?
    /// How the alphabet differs from the usual one; see `Alphabet`.
    var alphabet: String?
    var texts: [String: String]

    /// - Throws: `PagesProblem`, naming the file.
    static func read(_ file: String) throws -> Self {
        guard let content = FileManager.default.contents(atPath: file) else {
            throw PagesProblem(description: "language file \(file) cannot be read")
        }
        let read: Self
        do { read = try JSONDecoder().decode(Self.self, from: content) } catch {
            throw PagesProblem(description: "language file \(file) is no JSON object with 'texts', whose values are texts: \(error)")
        }
        guard ["ltr", "rtl"].contains(read.direction ?? "ltr") else {
            throw PagesProblem(description: "language file \(file): 'direction' must be ltr or rtl")
        }
        return read
    }

    /// - Returns: Tag and file of each language of a folder.
    /// - Throws: `PagesProblem` when it cannot be read, or a name is no tag.
    static func list(_ folder: String) throws -> [(tag: String, file: String)] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw PagesProblem(description: "folder of languages \(folder) cannot be read")
        }
        return try names.sorted().filter { $0.hasSuffix(".json") }.map { name in
            let tag = String(name.dropLast(5))
            guard isTag(tag) else {
                throw PagesProblem(description: "language file \(folder)/\(name): the name must be a language tag, for example it.json or pt-BR.json")
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
