internal import Foundation
@testable import GatewayEdge
internal import Testing

@Suite struct LanguageFileTests {
    private static let folder = TestGateway.pages + "/languages"

    @Test("every language has every text, with the same places and tags as English", arguments: ["es", "fr", "de", "pt"])
    func translationsAreComplete(tag: String) throws {
        let english = try LanguageFile.read("\(Self.folder)/en.json").texts
        let other = try LanguageFile.read("\(Self.folder)/\(tag).json")
        #expect(Set(other.texts.keys) == Set(english.keys))
        for (key, text) in other.texts {
            #expect(!text.trimmingCharacters(in: .whitespaces).isEmpty, "\(key)")
            #expect(Languages.marks(text) == english[key].map(Languages.marks), "\(key)")
            #expect(!text.contains("\"") && !text.contains("[["), "\(key) breaks the template around it")
        }
        #expect(other.texts["date.months"]?.split(separator: "|").count == 12)
        #expect(other.name?.isEmpty == false)
    }

    @Test("what a release has needs no correction, and each text is used")
    func theReleaseIsClean() throws {
        let pages = try Pages(folder: TestGateway.pages, publicOrigin: "https://tv.example")
        #expect(pages.languages.warnings.isEmpty && pages.languages.all.map(\.tag) == ["en", "de", "es", "fr", "pt"])
        let templates = try FileManager.default.contentsOfDirectory(atPath: TestGateway.pages).filter { $0.hasSuffix(".mustache") }
            .map { try String(contentsOfFile: "\(TestGateway.pages)/\($0)", encoding: .utf8) }.joined()
        let inCode: Set = ["providers.favourites", "providers.others", "devices.unnamed", "date.format", "date.months"]
        for key in pages.languages.english.texts.keys where !inCode.contains(key) { #expect(templates.contains("[[\(key)]]"), "\(key)") }
    }

    @Test("a file in a folder of one's own adds a language; what it lacks is English, what does not fit is left out and told")
    func ownFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "languages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let arabic =
            ##"{"name": "العربية", "direction": "rtl", "texts": {"entry.heading": "قم بتوصيل التلفاز", "entry.wait": "no place", "gone": "x"}}"##
        try Data(arabic.utf8).write(to: folder.appending(path: "ar.json"))
        try Data(#"{"texts": {"entry.heading": "Link your TV"}}"#.utf8).write(to: folder.appending(path: "en.json"))
        let languages = try Languages(folder: TestGateway.pages, additional: folder.path)
        let own = try #require(languages.best("ar-EG"))
        #expect(own.direction == "rtl" && own.text("entry.heading") == "قم بتوصيل التلفاز")
        #expect(own.text("entry.wait").contains("{{seconds}}") && own.text("done.heading") == "Your TV is connected")
        #expect(languages.english.text("entry.heading") == "Link your TV" && languages.english.name == "English")
        #expect(languages.warnings.count == 3 && languages.warnings.contains { $0.contains("'entry.wait'") && $0.contains("places") })
        #expect(languages.warnings.contains { $0.hasPrefix("language ar lacks account.back") })
    }

    @Test(
        arguments: [
            ("de.json", "[]", "no JSON object"), ("de.json", #"{"direction": "up", "texts": {}}"#, "ltr or rtl"),
            ("de_AT.json", "{}", "language tag"),
        ])
    func brokenFilesAreNamed(name: String, content: String, words: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "languages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(content.utf8).write(to: folder.appending(path: name))
        #expect { try Languages(folder: TestGateway.pages, additional: folder.path) } throws: { error in
            "\(error)".contains(name) && "\(error)".contains(words)
        }
    }
}
