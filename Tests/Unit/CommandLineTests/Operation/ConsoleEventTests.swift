import Foundation
import Testing

@testable import CommandKit

@Suite("Events for programs") struct ConsoleEventTests {
    @Test("an event is one line of JSON with its name")
    func oneLine() throws {
        let line = try Console.line(ofEvent: "ready", ["text": "two\nlines", "gateway": "http://127.0.0.1:1", "pids": [1, 2], "event": "x"])
        let text = String(decoding: line, as: UTF8.self)
        #expect(text.hasSuffix("\n") && text.count { $0 == "\n" } == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
        #expect(object["event"] as? String == "ready" && object["text"] as? String == "two\nlines" && object["pids"] as? [Int] == [1, 2])
        #expect(text.contains("http://127.0.0.1:1"), "no slash is escaped")
    }

    @Test("spans read like those of reports of load")
    func spans() {
        #expect(Console.text(of: .microseconds(812)) == "812 µs" && Console.text(of: .milliseconds(120)) == "120 ms")
        #expect(Console.text(of: .milliseconds(2400)) == "2.40 s" && Console.milliseconds(.microseconds(1234)) == 1.234)
    }
}
