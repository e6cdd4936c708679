import Foundation
import Logging
import Testing

@testable import ServiceKit

@Suite("Severities for the journal")
struct JournalSeverityTests {
    private func prefixes(of descriptor: Int32, _ stream: String?) -> [String] {
        let severity = JournalSeverity(of: descriptor, environment: stream.map { ["JOURNAL_STREAM": $0] } ?? [:])
        return Logger.Level.allCases.map { String(decoding: severity.marked(Array("x".utf8), $0), as: UTF8.self) }
    }

    @Test("stand before lines where the descriptor is the journal's stream, and nowhere else")
    func onlyInTheJournal() throws {
        let folder = try Folder()
        try folder.write("", to: "log")
        let descriptor = open(folder.path + "/log", O_RDWR)
        defer { close(descriptor) }
        var facts = stat()
        try #require(fstat(descriptor, &facts) == 0)
        #expect(prefixes(of: descriptor, "\(facts.st_dev):\(facts.st_ino)") == ["<7>x", "<7>x", "<6>x", "<5>x", "<4>x", "<3>x", "<2>x"])
        let none = Array(repeating: "x", count: 7)
        for stream in [nil, "", "8", "8:", ":8", "8:8:8", "a:b", "\(facts.st_dev):\(facts.st_ino + 1)", "\(facts.st_dev + 1):\(facts.st_ino)"] {
            #expect(prefixes(of: descriptor, stream) == none, "\(stream ?? "-")")
        }
        #expect(prefixes(of: -1, "\(facts.st_dev):\(facts.st_ino)") == none)
    }
}
