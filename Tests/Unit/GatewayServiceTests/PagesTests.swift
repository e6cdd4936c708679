@testable import GatewayEdge
internal import Foundation
internal import Testing

@Suite struct PagesTests {
    @Test func aMissingFolderIsOneClearLine() {
        #expect { try Pages(folder: "/nonexistent", publicOrigin: "https://tv.example") } throws: { error in
            "\(error)".hasPrefix("page file /nonexistent/") && "\(error)".hasSuffix("cannot be read")
        }
    }

    @Test func aBrokenTemplateIsNamed() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString)")
        try FileManager.default.copyItem(atPath: TestGateway.pages, toPath: folder.path)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("{{#open}}".utf8).write(to: folder.appending(path: "entry.mustache"))
        #expect { try Pages(folder: folder.path, publicOrigin: "https://tv.example") } throws: { error in
            "\(error)".contains("entry.mustache is broken")
        }
    }

    @Test(arguments: Pages.Notice.allCases)
    func everyNoticeHasAText(notice: Pages.Notice) throws {
        let pages = try Pages(folder: TestGateway.pages, publicOrigin: "https://tv.example")
        let empty = try #require(pages.render("notice", ["trace": "t", "notFound": false], status: notice.status).body.contentLength)
        let filled = try #require(pages.message(notice, trace: "t", for: pages.english).body.contentLength)
        #expect(filled > empty + 40)
    }

    @Test(
        arguments: [
            ("https://tv.example", false, true), ("http://127.0.0.1:8080", true, true), ("http://[::1]:8080", true, true),
            ("https://tv.example/", false, false), ("tv.example", false, false), ("https://tv.example", true, false),
            ("http://tv.example", true, false), ("https://user@tv.example", false, false), ("https://tv.example:99999", false, false),
        ])
    func settingsAreChecked(origin: String, insecure: Bool, isGood: Bool) {
        #expect((GatewaySettings(publicOrigin: origin, pages: "p", insecureCookies: insecure).problem == nil) == isGood)
    }
}
