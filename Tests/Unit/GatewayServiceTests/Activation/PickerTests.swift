internal import Contracts
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The list of providers at the size that it really has (dashboard §8).
@Suite struct PickerTests {
    @Test("300 providers are under 60 KB, compressed under 15 KB, and their logos come as they are reached")
    func threeHundredProviders() async throws {
        let gateway = TestGateway(configuration: Self.configuration(300))
        let plain = try await gateway.get("/activate/providers?code=QK7M2XD", [:])
        #expect(plain.status == 200 && plain.headers[.contentEncoding] == nil)
        #expect(plain.text.components(separatedBy: "/activate/sign-in?").count == 301)
        #expect(plain.text.components(separatedBy: #"loading="lazy""#).count == 301)
        print("300 providers: \(plain.text.utf8.count) octets")
        let packed = try await gateway.octets("/activate/providers?code=QK7M2XD", [.acceptEncoding: "br, gzip"])
        #expect(packed.headers[.contentEncoding] == "gzip" && packed.octets.prefix(2) == [0x1F, 0x8B])
        #expect(packed.octets.count < 15_000, "\(packed.octets.count)")
        print("300 providers, compressed: \(packed.octets.count) octets")
    }

    @Test("a page with a secret is never compressed: a form's token, a session's devices")
    func pagesWithSecretsStayPlain() async throws {
        let gateway = TestGateway()
        gateway.autoSignIn.getOptInStatus.answer(with: OptInStatus(families: [], requestor: "ACME1"))
        for (uri, cookie) in [("/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", ""), ("/devices", "__Host-devices=web"), ("/devices/open/abc", "")] {
            let reply = try await gateway.get(uri, [.acceptEncoding: "gzip", .cookie: cookie])
            #expect(reply.status == 200 && reply.headers[.contentEncoding] == nil, "\(uri)")
        }
    }

    @Test(arguments: [
        ("gzip", true), ("br;q=1, gzip;q=0.5", true), ("gzip;q=0", false), ("*", true), ("*;q=0", false), ("br", false),
        ("identity, gzip ; q=0.000", false),
    ])
    func encodingsAreNegotiated(field: String, isPacked: Bool) async throws {
        let reply = try await TestGateway().octets("/assets/style.css", [.acceptEncoding: field])
        #expect((reply.headers[.contentEncoding] == "gzip") == isPacked && reply.headers[values: .vary].contains("Accept-Encoding"))
        let tag = try #require(reply.headers[.eTag])
        #expect(try await TestGateway().octets("/assets/style.css", [.acceptEncoding: field, .ifNoneMatch: tag]).status == 304)
        #expect(tag.hasSuffix("-gzip\"") == isPacked)
    }

    @Test("favourites stand first, in the channel's order, and the others as the language orders them")
    func favouritesComeFirst() async throws {
        var configuration = Self.configuration(0, names: ["Zeta", "Ñandú", "Nube", "Nzt", "Alfa", "Éter"])
        configuration.requestors[0].favouriteMvpds = ["M3", "gone", "M0", "M3"]
        let gateway = TestGateway(configuration: configuration)
        let english = try await gateway.get("/activate/providers?code=QK7M2XD", [:])
        #expect(Self.names(english) == ["Nzt", "Zeta", "Alfa", "Éter", "Ñandú", "Nube"])
        #expect(english.text.contains("<h2>Often chosen</h2>") && english.text.contains("<h2>All other providers</h2>"))
        let spanish = try await gateway.get("/activate/providers?code=QK7M2XD", [.acceptLanguage: "es"])
        #expect(Self.names(spanish) == ["Nzt", "Zeta", "Alfa", "Éter", "Nube", "Ñandú"])
    }

    @Test("without scripts a form searches")
    func theServerSearches() async throws {
        let gateway = TestGateway(configuration: Self.configuration(20, names: ["Télécom Sud", "Straße TV", "AT&T"]))
        for (query, names) in [
            ("telecom", ["Télécom Sud"]), ("STRASSE", ["Straße TV"]), ("at%26t", ["AT&amp;T"]), ("zzz", []), ("sud+tel", ["Télécom Sud"]),
        ] {
            let reply = try await gateway.get("/activate/providers?code=QK7M2XD&choose=1&q=\(query)", [:])
            #expect(Self.names(reply) == names)
            let found = #"<span id="found">Providers found: <span id="count">\#(names.count)</span>"#
            #expect(
                reply.text.contains(found) == !names.isEmpty && reply.text.contains(#"<span id="none">No provider has this name."#) == names.isEmpty)
            #expect(reply.text.contains("Show all providers") && reply.text.contains("My provider is not listed"))
        }
        let hostile = try await gateway.get("/activate/providers?code=QK7M2XD&q=%22%3E%3Cscript%3E\(String(repeating: "x", count: 3000))", [:])
        #expect(hostile.text.contains(#"value="&quot;&gt;&lt;script&gt;xxx"#) && !hostile.text.contains(String(repeating: "x", count: 90)))
        #expect(!(try await TestGateway().get("/activate/providers?code=QK7M2XD", [:]).text.contains(#"role="search""#)), "three need no search")
        let list = try await gateway.get("/activate/providers?code=QK7M2XD", [:]).text
        #expect(
            list.contains(#"<noscript><button type="submit" class="second">Search</button></noscript>"#) && list.contains(#"<span id="none" hidden>"#)
        )
        let (provider, help) = (
            try #require(list.firstRange(of: "<ul class=\"providers\">")), try #require(list.firstRange(of: "<details class=\"help\">"))
        )
        #expect(provider.upperBound < help.lowerBound, "help stands below the list")
    }

    @Test("dashboard #42: a provider that the app has chosen skips the list, unless the person wants another one or it is not there any more")
    func aChosenProviderSkipsTheList() async throws {
        let gateway = TestGateway()
        gateway.authentication.getRegistrationCode.answer(with: TestGateway.code(call: nil, mvpd: "LakeTel"))
        let skipped = try await gateway.get("/activate/providers?code=qk7m2xd", [:])
        #expect(skipped.status == 302 && skipped.headers[.location] == "/activate/sign-in?code=QK7M2XD&mvpd=LakeTel")
        let page = try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=LakeTel", [:])
        #expect(page.text.contains(#"<a href="/activate/providers?code=QK7M2XD&amp;choose=1">Other provider</a>"#))
        let list = try await gateway.get("/activate/providers?code=QK7M2XD&choose=1", [:])
        #expect(list.status == 200 && Self.names(list).first == "Lake Telecom")
        gateway.authentication.getRegistrationCode.answer(with: TestGateway.code(call: nil, mvpd: "ParkedTV"))
        #expect(try await gateway.get("/activate/providers?code=QK7M2XD", [:]).status == 200)
    }

    @Test("TempPass is no provider that a person could choose")
    func tempPassIsHidden() async throws {
        var configuration = DemoCatalogue.configuration
        configuration.mvpds.append(Mvpd(id: "Trial", displayName: "Free Trial", signIn: .tempPass(TempPass())))
        configuration.integrations.append(Integration(requestorID: "ACME1", mvpdID: "Trial", enabled: true))
        let reply = try await TestGateway(configuration: configuration).get("/activate/providers?code=QK7M2XD", [:])
        #expect(reply.status == 200 && !reply.text.contains("Free Trial"))
    }

    @Test("dashboard #51: hostile names are text, turn nothing around, and are bounded")
    func hostileNames() async throws {
        let wide = String(repeating: "﷽", count: 80) + "end"
        let names = ["<script>alert(1)</script>", "North\u{202E}elbaC\u{200B}", "\"'><img src=x onerror=alert(1)>", "\u{202E}\u{2066}", wide]
        let reply = try await TestGateway(configuration: Self.configuration(0, names: names)).get("/activate/providers?code=QK7M2XD", [:])
        #expect(reply.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !reply.text.contains("<script>"))
        #expect(reply.text.contains("<span>NorthelbaC</span>") && !reply.text.unicodeScalars.contains("\u{202E}"))
        #expect(!reply.text.contains("<img src=x") && reply.text.contains("﷽…</span>"))
        var code = TestGateway.code(call: nil)
        code.deviceLabel = "Roku\u{202E}<script>"
        let gateway = TestGateway()
        gateway.authentication.getRegistrationCode.answer(with: code)
        let page = try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", [:])
        #expect(page.text.contains("Connect <strong>Roku&lt;script&gt;</strong> to <strong>Acme One</strong>?"))
        #expect(page.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
    }

    @Test(
        "a logo is taken from the web alone; letters stand for any other",
        arguments: [
            ("https://img.example/a.png", true), ("javascript:alert(1)", false), ("data:image/svg+xml,<svg/>", false),
            ("//evil.example/x.png", false),
            ("https://img.example/\"onerror=\"alert(1)", false), ("https://img.example/\u{202E}", false),
            ("https://" + String(repeating: "x", count: 3000), false),
            ("", false),
        ])
    func hostileLogos(address: String, isShown: Bool) async throws {
        var configuration = Self.configuration(0, names: ["North Cable"])
        configuration.mvpds[0].logoURL = address
        let reply = try await TestGateway(configuration: configuration).get("/activate/providers?code=QK7M2XD", [:])
        #expect(reply.text.contains("<img") == isShown && reply.text.contains("<b>NC</b>"))
        #expect(!reply.text.contains("onerror"))
    }

    static func names(_ reply: Reply) -> [String] { reply.text.matches(of: /<\/span><span>([^<]*)<\/span><\/a>/).map { String($0.output.1) } }

    /// A catalogue whose channel ACME1 has MVPDs with these names, and more of them.
    static func configuration(_ count: Int, names: [String] = []) -> Configuration {
        var configuration = DemoCatalogue.configuration
        let all = names + (0..<count).map { "Cable Company \($0) of \(String($0 &* 2_654_435_761 % 99_991, radix: 36))" }
        configuration.mvpds = all.enumerated().map { index, name in
            Mvpd(
                id: "M\(index)", displayName: name,
                logoURL: index < names.count ? "" : "https://logos.mvpd-\(index).example/assets/logo-\(index).png",
                signIn: .saml(SamlEndpoint(ssoURL: "https://idp.example/sso")))
        }
        configuration.integrations = configuration.mvpds.map { Integration(requestorID: "ACME1", mvpdID: $0.id, enabled: true) }
        return configuration
    }
}

extension TestGateway {
    /// An answer whose body is no text.
    func octets(_ uri: String, _ headers: HTTPFields) async throws -> (status: Int, headers: HTTPFields, octets: [UInt8]) {
        try await exchange { client in
            try await client.execute(uri: uri, method: .get, headers: headers, body: nil) {
                ($0.status.code, $0.headers, Array($0.body.readableBytesView))
            }
        }
    }
}
