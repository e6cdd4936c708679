import AuthorizationService
import Contracts
import Doubles
import Faults
import Foundation
import OutboundHttp
import Testing

/// GET with Media RSS (mvpd §4.1, §4.2) through the whole service.
@Suite struct RestDecisionTests {
    private func fixture(_ configure: (inout AuthorizationEndpoint) -> Void = { _ in }) throws -> AuthorizationFixture {
        let fixture = try AuthorizationFixture { configuration in
            var endpoint = configuration.mvpds[0].authorization ?? AuthorizationEndpoint()
            endpoint.protocol = .restMrss
            configure(&endpoint)
            configuration.mvpds[0].authorization = endpoint
        }
        fixture.transport.answer(XacmlXml.response(XacmlXml.result("Permit")), contentType: "text/xml; charset=utf-8")
        return fixture
    }

    private func parameters(_ message: OutboundRequest) throws -> [String: String] {
        let items = try #require(URLComponents(string: message.url)?.queryItems)
        return Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") })
    }

    @Test("mvpd §4.1: user id, Media RSS in Base64 and address go out as parameters; the Base64 text is percent-encoded")
    func sendsParameters() async throws {
        let fixture = try fixture()
        _ = try await fixture.authorize("A~?>&B")
        let message = try #require(fixture.transport.messages.first)
        #expect(message.method == .get && message.body == nil)
        let query = try #require(message.url.wholeMatch(of: /https:\/\/pdp.cable.example\/authz\?(.*)/)).1
        #expect(!query.contains("+") && !query.contains("/"))
        let sent = try parameters(message)
        #expect(Set(sent.keys) == ["uuID", "mrss", "IPAddress"] && sent["uuID"] == "subscriber-9" && sent["IPAddress"] == "203.0.113.9")
        let document = try #require(Data(base64Encoded: sent["mrss"] ?? ""))
        #expect(String(decoding: document, as: UTF8.self) == "<rss version=\"2.0\"><channel><title>A~?&gt;&amp;B</title></channel></rss>")
    }

    @Test("mvpd §4.1: Media RSS goes out as it came; a channel-only MVPD gets the channel alone")
    func sendsDocuments() async throws {
        let resource = "<rss version=\"2.0\"><channel><title>CHAN7</title><item><guid>g-1</guid></item></channel></rss>"
        for (channelOnly, document) in [(false, resource), (true, "<rss version=\"2.0\"><channel><title>CHAN7</title></channel></rss>")] {
            let fixture = try fixture { $0.channelOnly = channelOnly }
            _ = try await fixture.authorize(resource)
            let sent = try parameters(try #require(fixture.transport.messages.first))
            #expect(Data(base64Encoded: sent["mrss"] ?? "").map { String(decoding: $0, as: UTF8.self) } == document)
        }
    }

    @Test("mvpd §4.2: the answer is XML or JSON by its content type; anything else is an error")
    func readsByContentType() async throws {
        let fixture = try fixture()
        let xml = XacmlXml.response(XacmlXml.result("Permit"))
        let json = Xacml.response(Xacml.result("Permit"))
        for (text, type, isGood) in [
            (xml, "application/xml", true), (xml, "application/xacml+xml;version=2.0", true), (json, "application/json", true),
            (json, "Application/XACML+JSON", true), (xml, "text/html", false), (xml, "", false), (json, "text/xml", false),
            (xml, "application/json", false),
        ] {
            fixture.transport.answer(text, contentType: type.isEmpty ? nil : type)
            let resource = "resource-\(fixture.transport.requestCount)"
            #expect(await fault { try await fixture.authorize(resource) }?.code == (isGood ? nil : .networkReceivedError), "\(type)")
        }
    }

    @Test("mvpd §4.4: a preauthorization asks about each resource by itself")
    func asksOneByOne() async throws {
        let fixture = try fixture()
        #expect(try await fixture.preauthorize("A,B,C").resources.allSatisfy(\.authorized))
        #expect(fixture.transport.requestCount == 3)
    }
}
