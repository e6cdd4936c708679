import Testing

@testable import AuthenticationCore

/// Addresses that browsers are sent to (rest-v1 §3.7).
@Suite struct RedirectAddressTests {
    @Test(
        "an address is scheme, host and perhaps a port and a path, in printable ASCII; letter case of scheme and host does not count",
        arguments: [
            ("https://tv.example", "https", "tv.example", "tv.example"), ("HTTPS://TV.Example:8443/A?b#c", "https", "tv.example", "tv.example:8443"),
            ("https://tv.example:65535", "https", "tv.example", "tv.example:65535"),
            ("https://[2001:db8::1]:443/", "https", "[2001:db8::1]", "[2001:db8::1]:443"),
            ("adobepass://ios.app", "adobepass", "ios.app", "ios.app"), ("adbe.a_Z-9+x://", "adbe.a_z-9+x", "", ""),
            ("a://zaz09-._", "a", "zaz09-._", "zaz09-._"), ("z://~!$&'()*", nil, "", ""),
            ("https://tv.example/~!$&'()*+,;=:@%7e[]", "https", "tv.example", "tv.example"),
        ] as [(String, String?, String, String)])
    func takesApart(text: String, scheme: String?, host: String, authority: String) {
        let address = RedirectAddress(text)
        #expect(address?.scheme == scheme)
        guard scheme != nil else { return }
        #expect(address?.host == host && address?.authority == authority && address?.text == text)
    }

    @Test(
        "what two programs could read in two ways is none",
        arguments: [
            "", "tv.example", "//tv.example", "https:/tv.example", "9p://tv.example", "-a://tv.example", "ht tps://tv.example", "https://tv example",
            "https://tv.example/a b", "https://tv.example/\u{7f}", "https://tv.example/\n", "https://tv.example\\@evil.example",
            "https://u@tv.example",
            "https://tv.example%2f.evil.example", "https://tv.example:65536", "https://tv.example:000443", "https://tv.example:",
            "https://tv.example:-1",
            "https://tv.example:8o", "https://tv.example:1:2", "https://tv{example", "https://tv`example", "https://tv/example>",
            "https://tv|example",
            "https://t\u{e9}v.example", "https://[2001:db8::1", "https://tv:example/", "https://tv/example\"", "https://tv/example^",
        ])
    func refuses(text: String) {
        #expect(RedirectAddress(text) == nil)
    }

    @Test("an address has up to 2,048 octets, or as many as its place says")
    func isBounded() {
        func address(_ octets: Int) -> String { "https://tv.example/" + String(repeating: "x", count: octets - 19) }
        #expect(RedirectAddress(address(2048)) != nil && RedirectAddress(address(2049)) == nil)
        #expect(RedirectAddress(address(40), longest: 40) != nil && RedirectAddress(address(41), longest: 40) == nil)
    }

    @Test("a host lies under its domain and under those above it, not under one that merely ends alike")
    func liesUnderDomains() throws {
        let address = try #require(RedirectAddress("https://www.TV.example/"))
        for domain in ["www.tv.example", "tv.example", "TV.EXAMPLE", "example"] { #expect(address.lies(under: domain)) }
        for domain in ["", "v.example", "a.www.tv.example", "tv.example.", ".tv.example"] { #expect(!address.lies(under: domain), "\(domain)") }
        #expect(address.isWeb && RedirectAddress("http://a")?.isWeb == true && RedirectAddress("adobepass://a")?.isWeb == false)
    }
}
