import Doubles
import Faults
import MediaRss
import Testing

@testable import AuthorizationService

@Suite struct RequestedResourcesTests {
    private static let rss = "<rss version=\"2.0\"><channel><title>A, B</title></channel></rss>"

    private func texts(_ list: String) throws -> [String] { try RequestedResources(list).items.map(\.text) }

    @Test("rest-v1 §3.16: order is kept, duplicates are collapsed, white space around ids does not count")
    func splitsAtCommas() throws {
        #expect(try texts("C,A,B") == ["C", "A", "B"])
        #expect(try texts(" A ,B,\tA,, B\n") == ["A", "B"])
        #expect(try texts("a,A") == ["a", "A"])
    }

    @Test("rest-v1 §3.16: commas within <rss> do not split")
    func keepsDocumentsWhole() throws {
        #expect(try texts("X,\(Self.rss),Y") == ["X", Self.rss, "Y"])
        #expect(try texts("\(Self.rss), \(Self.rss) ,Z") == [Self.rss, "Z"])
    }

    @Test("mvpd §4.1: the document that is written of a plain resource names the same channel", arguments: ["A\rB", "A\r\nB", "A\tB", "A & <B>"])
    func writesTheSameChannel(resource: String) throws {
        let channel = try RequestedResource(resource).channel
        #expect(MediaRssDocument(MediaRssDocument.text(channel: channel))?.channelTitle == resource)
    }

    @Test("rest-v1 §3.14: characters that XML cannot hold are malformed", arguments: ["A\u{FFFE}", "\u{FFFF}", "A\u{1}B"])
    func refusesWhatXMLCannotHold(resource: String) {
        #expect { try RequestedResource(resource) } throws: { ($0 as? Fault)?.code == .malformedAuthzRequest }
    }

    @Test("mvpd §4.1: a resource has up to 16 KiB, a list of them up to 128 KiB, in octets")
    func areBounded() throws {
        func isRefused(_ body: () throws -> Void) -> Bool {
            do { try body() } catch { return (error as? Fault)?.code == .malformedAuthzRequest }
            return false
        }
        let longest = String(repeating: "é", count: 8 * 1024)
        #expect(try RequestedResource(longest).channel == longest)
        #expect(isRefused { _ = try RequestedResource(longest + "x") })
        let names = (0..<8).map { String(repeating: "é", count: 8 * 1024 - 1) + "\($0)" }
        let list = names.joined(separator: ",") + " "
        #expect(list.utf8.count == 128 * 1024 && names.allSatisfy { $0.utf8.count == 16 * 1024 - 1 })
        #expect(try RequestedResources(list).items.map(\.text) == names)
        #expect(isRefused { _ = try RequestedResources(list + " ") })
        let each = names.map { $0 + "x" }
        #expect(try RequestedResources(each: each).items.map(\.text) == each)
        #expect(isRefused { _ = try RequestedResources(each: each + ["y"]) })
    }

    @Test("rest-v1 §3.16: a list that names nothing", arguments: [nil, "", " ", ",", " , ,"])
    func refusesEmptyLists(list: String?) {
        #expect { try RequestedResources(list) } throws: { ($0 as? Fault)?.code == .missingResource }
    }

    @Test(
        "rest-v1 §2.8: one malformed resource spoils the list",
        arguments: [
            "A,<rss", "<rss>,B", "A,<rss><channel/></rss>,B", "<rss/>,<rss/>", "<x>,</rss>", "A,\u{1},B", "\(rss)B,C", "<![CDATA[<rss>,]]>,A",
            "<!DOCTYPE rss><rss><channel><title>A</title></channel></rss>,B",
        ])
    func refusesMalformedParts(list: String) {
        #expect { try RequestedResources(list) } throws: { ($0 as? Fault)?.code == .malformedAuthzRequest }
    }

    private static let laughs: String = {
        let entities = (1...9).map { #"<!ENTITY l\#($0) "\#(String(repeating: "&l\($0 - 1);", count: 10))">"# }.joined()
        return #"<!DOCTYPE rss [<!ENTITY l0 "ha">\#(entities)]><rss><channel><title>&l9;</title></channel></rss>"#
    }()

    private static let bombs: [String] = [
        laughs, "\(laughs),A",
        #"<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/hostname">]><rss><channel><title>&x;</title></channel></rss>"#,
        #"<!DOCTYPE rss SYSTEM "http://127.0.0.1:1/x.dtd"><rss><channel><title>A</title></channel></rss>"#,
        "<rss>" + String(repeating: "<a>", count: 2_000) + String(repeating: "</a>", count: 2_000) + "</rss>",
        String(repeating: "<", count: 128 * 1024), String(repeating: "<rss>,", count: 20_000), String(repeating: "</rss>", count: 20_000),
        String(repeating: "<rss " + String(repeating: "a", count: 50), count: 2_000),
        "<rss \(String(repeating: "a", count: 16_000))",
        "<rss \((0..<1_500).map { "a\($0)=\"\"" }.joined(separator: " "))></rss>",
        String(repeating: "A", count: 10_000_000), String(repeating: ",", count: 10_000_000),
        "<rss>" + String(repeating: "x,", count: 5_000_000) + "</rss>",
        String(repeating: "<rss><channel><title>A</title></channel></rss>,", count: 250_000),
    ]

    @Test("issue 3: XML bombs, deep, long and many: refused, and never slow", .tags(.timing), arguments: bombs.indices)
    func refusesBombsQuickly(bomb: Int) {
        let list = Self.bombs[bomb]
        let start = ContinuousClock.now
        #expect { try RequestedResources(list) } throws: { ($0 as? Fault)?.code == .malformedAuthzRequest }
        #expect { try RequestedResource(list) } throws: { ($0 as? Fault)?.code == .malformedAuthzRequest }
        #expect(start.duration(to: .now) < .seconds(2))
    }
}
