internal import Contracts
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Testing

/// A channel's name, logo and colours on the pages.
@Suite struct LookTests {
    private static let light = ["#ffffff", "#eef1f5"].compactMap(WebColor.init)
    private static let dark = ["#18212b", "#0e141a"].compactMap(WebColor.init)

    @Test("whatever colour a channel has, text in it and on it can be read (WCAG 2.2 AA)", arguments: 0..<64)
    func colorsCanBeRead(number: Int) throws {
        let parts = [number / 16, number / 4 % 4, number % 4].map { Double($0 * 85) }
        let color = WebColor(red: parts[0], green: parts[1], blue: parts[2])
        #expect(color.contrast(with: color.ink) >= WebColor.readable)
        for (grounds, end) in [(Self.light, WebColor.black), (Self.dark, .white)] {
            let shown = try #require(WebColor(color.readable(on: grounds, towards: end).text))
            for ground in grounds { #expect(shown.contrast(with: ground) >= WebColor.readable, "\(shown.text)") }
            #expect(shown.contrast(with: shown.ink) >= WebColor.readable)
        }
    }

    @Test func contrastIsThatOfTheGuidelines() throws {
        #expect(WebColor.white.contrast(with: .black) == 21 && WebColor.white.contrast(with: .white) == 1)
        let grey = try #require(WebColor("#767676"))
        #expect((4.5..<4.6).contains(grey.contrast(with: .white)))
        #expect(try #require(WebColor("#0B5fad")).text == "#0b5fad")
        for text in ["", "#fff", "0b5fad0", "#gggggg", "#+12345", "#-12345", "red"] { #expect(WebColor(text) == nil) }
    }

    @Test("the pages show the channel's name, logo and colours, which the content policy names by their digest")
    func pagesShowTheChannel() async throws {
        var configuration = DemoCatalogue.configuration
        configuration.requestors[0].logoURL = "https://img.example/news.svg"
        configuration.requestors[0].accentColor = "#ffcc00"
        configuration.requestors[0].headerColor = "#102030"
        let gateway = TestGateway(configuration: configuration)
        for uri in [
            "/activate?requestor=ACME1", "/activate/providers?code=QK7M2XD", "/activate/sign-in?code=QK7M2XD&mvpd=NorthCable",
            "/activate/done?code=QK7M2XD&requestor=ACME1",
        ] {
            let reply = try await gateway.get(uri, [:])
            #expect(
                reply.text.contains(#"<p class="channel"><img src="https://img.example/news.svg" alt="" height="48"><span>Acme One</span></p>"#),
                "\(uri)")
            let style = try #require(reply.text.firstMatch(of: /<style>([^<]*)<\/style>/)?.output.1)
            let look = ChannelLook(configuration.requestors[0])
            #expect(String(style) == look.style && style.contains("--channel:#102030;--channel-ink:#ffffff;"))
            let policy = try #require(reply.headers[.contentSecurityPolicy])
            #expect(
                policy.contains("style-src 'self' \(look.styleSource);") && !policy.contains("unsafe")
                    && policy.contains("img-src 'self' data: https:"))
        }
        let plain = try await gateway.get("/activate?requestor=ACME2", [:])
        #expect(
            plain.text.contains("<span>Acme Two</span>") && !plain.text.contains("<style>")
                && plain.headers[.contentSecurityPolicy]?.contains("sha256") == false)
        #expect(!(try await gateway.get("/activate?requestor=nobody", [:]).text.contains(#"class="channel""#)))
    }

    @Test(
        arguments: [
            ("North Cable", "NC"), ("northwest", "N"), ("AT&T U-verse", "AT"), ("  ", ""), ("Ätna", "Ä"), ("東京ケーブル", "東"), ("1&1", "11"),
            ("<b>", "B"),
            ("e\u{301}\u{301}\u{301}\u{301}\u{301}a", "E\u{301}\u{301}"),
        ])
    func initialsStandForALogo(name: String, initials: String) { #expect(ShownText(name).initials == initials) }
}
