import Contracts
import Doubles
import Faults
import Foundation
import MediaRss
import Testing

@Suite struct MediaRssTests {
    private static let namespaces = ["http://search.yahoo.com/mrss/", "http://video.search.yahoo.com/mrss/", "https://search.yahoo.com/mrss/"]

    private static func document(namespace: String = namespaces[0], scheme: String = "urn:v-chip") -> String {
        """
        <rss version="2.0" xmlns:media="\(namespace)"><channel><title> CHAN7 </title><media:rating scheme="urn:mpaa">pg</media:rating>
        <item><title>The &amp; Show</title><guid>guid-1</guid><media:rating scheme="\(scheme)">tv-pg</media:rating></item></channel></rss>
        """
    }

    private func sent(_ resource: String, channelOnly: Bool = false) async throws -> [String: String] {
        let fixture = try AuthorizationFixture { $0.mvpds[0].authorization?.channelOnly = channelOnly }
        _ = await AuthorizationServiceTests.fault { try await fixture.authorize(resource) }
        let body = try #require(fixture.transport.bodies.first)
        let attributes = try SentRequest(json: body).resource.flatMap(\.attributes)
        let prefixes = ["urn:oasis:names:tc:xacml:1.0:resource:", "urn:cablelabs:ocla:1.0:attribute:content:"]
        return Dictionary(
            uniqueKeysWithValues: attributes.map { attribute in
                let prefix = prefixes.first { attribute.identifier.hasPrefix($0) } ?? ""
                return (String(attribute.identifier.dropFirst(prefix.count)), attribute.value)
            })
    }

    @Test("mvpd #117: an item gives guid, network, namespace, title and rating; a channel-only MVPD gets the channel's title")
    func mapsAnItem() async throws {
        #expect(
            try await sent(Self.document()) == [
                "resource-id": "guid-1", "tv-network": "CHAN7", "id:namespace": "CHAN7", "title": "The & Show", "rating:urn:v-chip": "tv-pg",
            ])
        #expect(try await sent(Self.document(), channelOnly: true) == ["resource-id": "CHAN7"])
    }

    @Test("mvpd #117: without an item the resource is the channel's title")
    func mapsAChannel() async throws {
        let plain = try await sent(#"<rss version="2.0"><channel><title>CHAN7</title></channel></rss>"#)
        #expect(plain == ["resource-id": "CHAN7", "tv-network": "CHAN7", "id:namespace": "CHAN7"])
    }

    @Test("rest-v1 #113: each namespace in use and both spellings of V-Chip mean the same", arguments: namespaces)
    func acceptsNamespacesInUse(namespace: String) async throws {
        for scheme in ["urn:vchip", "urn:v-chip"] {
            #expect(try await sent(Self.document(namespace: namespace, scheme: scheme))["rating:urn:v-chip"] == "tv-pg")
        }
    }

    @Test(
        "rest-v1 #64: what begins with < and is no DTD-free rss with a channel title is malformed",
        arguments: [
            "<", "<rss", "<rss/>", "<rss><channel/></rss>", "<rss><channel><title/></channel></rss>",
            "<rss><channel><title> </title></channel></rss>",
            "<feed><channel><title>A</title></channel></feed>", "<rss><channel><title>A</title></channel></rss>trailing",
            "<rss><channel><title>A</title></channel><channel><title>B</title></channel></rss>",
            "<rss><channel><title>A</title><title>B</title></channel></rss>", "<rss><channel><title>A<b/></title></channel></rss>",
            "<rss><channel><title>A<!-- -->B</title></channel></rss>", "<rss><channel><title>&undefined;</title></channel></rss>",
            "<rss><channel><x:title>A</x:title></channel></rss>", "<rss><channel><title>A</title></channel></rss><rss/>",
            "<!DOCTYPE rss><rss><channel><title>A</title></channel></rss>",
            #"<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/hostname">]><rss><channel><title>&x;</title></channel></rss>"#,
            #"<!DOCTYPE rss SYSTEM "http://127.0.0.1:1/x.dtd"><rss><channel><title>A</title></channel></rss>"#,
        ])
    func refusesOtherDocuments(resource: String) async throws {
        let fixture = try AuthorizationFixture()
        #expect(await AuthorizationServiceTests.fault { try await fixture.authorize(resource) }?.code == .malformedAuthzRequest)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("mvpd §4.1: deep, long and control characters are malformed")
    func refusesOversizedResources() async throws {
        let fixture = try AuthorizationFixture()
        let deep = String(repeating: "<a>", count: 60) + String(repeating: "</a>", count: 60)
        for resource in [
            "<rss><channel><title>A</title>\(deep)</channel></rss>", String(repeating: "a", count: 16 * 1024 + 1), "CHAN7\u{1}", "CHAN7\u{85}",
        ] {
            #expect(await AuthorizationServiceTests.fault { try await fixture.authorize(resource) }?.code == .malformedAuthzRequest)
        }
    }

    @Test("nothing of a document stays behind in memory")
    func leavesNoMemory() throws {
        func resident() throws -> Int {
            let statm = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(Int(statm.split(separator: " ")[1])) * Int(getpagesize())
        }
        let title = String(repeating: "a", count: 1 << 20)
        let document = MediaRssDocument.text(channel: title)
        let before = try resident()
        for _ in 0..<640 { #expect(MediaRssDocument(document)?.channelTitle.utf8.count == title.utf8.count) }
        // All else in this process stays below 300 MiB.
        #expect(try resident() < before + 400 << 20)
    }

    @Test("rest-v1 §3.14: the resource is echoed verbatim and signed verbatim")
    func echoesTheResource() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Xacml.response(Xacml.result("Permit", resource: "guid-1")))
        let resource = Self.document()
        #expect(try await fixture.authorize(resource).resource == resource)
        #expect(try await fixture.mediaToken(resource).resource == resource)
    }
}
