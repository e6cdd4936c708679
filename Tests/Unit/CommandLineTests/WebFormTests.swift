@testable import CommandKit
@testable import Simulation
import Testing

@Suite struct WebFormTests {
    @Test func findsActionMethodAndFields() throws {
        let page = """
            <html><body><p>Hello</p><FORM id="f" action='https://idp.example/sso?a=1&amp;b=2' method="POST">
            <input type="hidden" name="SAMLRequest" value="PHg+&#43;&quot;"><input name="RelayState" value='r&#x41;'><input type="submit" value="Go">
            </FORM></body></html>
            """
        let form = try #require(WebForm(html: page))
        #expect(form.action == "https://idp.example/sso?a=1&b=2")
        #expect(form.method == "post")
        #expect(form.fields.map(\.name) == ["SAMLRequest", "RelayState"])
        #expect(form.fields.map(\.value) == ["PHg++\"", "rA"])
    }

    @Test func fillsFieldsAndEncodesThem() throws {
        var form = try #require(WebForm(html: #"<form action="/x"><input name="username"></form>"#))
        form.fill("username", "a b&c")
        form.fill("password", "ü+")
        #expect(form.method == "get")
        #expect(form.encoded == "username=a%20b%26c&password=%C3%BC%2B")
    }

    @Test func aPageWithoutAFormHasNone() {
        #expect(WebForm(html: "<p>No form here</p>") == nil)
    }

    @Test func anUnknownEntityStaysAsItIs() throws {
        #expect(try #require(WebForm(html: #"<form action="/x?a&nope;&#xFFFFFFFF;"></form>"#)).action == "/x?a&nope;&#xFFFFFFFF;")
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static func answer(_ page: String) -> HTTPAnswer { HTTPAnswer(status: 400, headers: [], body: Array(page.utf8)) }

    @Test("a page at which a person got stuck is told with its trace and the next command")
    func stuck() {
        let page = "<h1>Your <b>provider&#39;s</b> answer\nwas refused</h1><p class=\"hint\">Trace <span class=\"trace\">\(Self.trace)</span></p>"
        #expect(
            SimulatedPerson.stuck(Self.answer(page), at: "http://127.0.0.1:8080/SAML?x=secret").description
                == "the sign-in got stuck at http://127.0.0.1:8080 with status 400 ('Your provider's answer was refused'), trace \(Self.trace): "
                + "'boxoffice explain \(Self.trace)' tells why")
        #expect(
            SimulatedPerson.stuck(Self.answer("<span class=\"trace\">no trace</span>"), at: "https://tv.example/").description
                == "the sign-in got stuck at https://tv.example with status 400: 'boxoffice logs gateway --since 1m' has the reason")
    }

    @Test("what a page says reaches the terminal without control characters")
    func heading() {
        #expect(WebPage(html: "<h1></h1>").heading == nil && WebPage(html: "").trace == nil)
        let told = SimulatedPerson.stuck(Self.answer("<h1>\u{1b}[2Jhello\(String(repeating: "o", count: 200))</h1>"), at: "http://h/").description
        #expect(!told.contains("\u{1b}") && told.count < 300)
    }

    @Test(
        "an address is named with its port only where that is not the scheme's own",
        arguments: [
            ("https://nowhere.example/x?secret=1", "https://nowhere.example"), ("https://nowhere.example:443", "https://nowhere.example"),
            ("http://nowhere.example", "http://nowhere.example"), ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080"),
            ("http://[::1]:80/", "http://[::1]"), ("http://h:443/", "http://h:443"), ("no address", "an address without a host"),
        ])
    func origins(address: String, origin: String) { #expect(WebAddress.origin(of: address) == origin) }

    @Test("who lives in the sandbox is told where a login is refused")
    func people() {
        #expect(SandboxPeople.advice(afterRefusing: "nobody").contains("ada, ben, cleo, dan, and eve"))
        #expect(SandboxPeople.advice(afterRefusing: "eve").contains("--as ada"))
        #expect(WebAddress.isLocal("http://127.0.0.1:8080/x") && !WebAddress.isLocal("https://tv.example") && !WebAddress.isLocal("x"))
    }
}
