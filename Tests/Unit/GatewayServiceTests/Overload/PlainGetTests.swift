@testable import GatewayEdge
internal import Testing

/// Which bytes are a whole request beyond doubt.
@Suite struct PlainGetTests {
    private func read(_ text: String) -> PlainGet? { Array(text.utf8).withUnsafeBytes { PlainGet($0) } }

    @Test(
        "a plain GET is read",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "/", String?.none),
            ("GET /a#b?c#d HTTP/1.1\r\nHost: a\r\n\r\n", "/a", nil),
            ("GET /api/v1/checkauthn?a=b HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n", "/api/v1/checkauthn", "application/json"),
            (
                "GET /x HTTP/1.1\r\naCCept:text/xml\r\nhOST:a:80\r\nTraceparent: 00-1\r\nTE-X: 1\r\nUser-Agent: Content-Length: 5\r\n\r\n", "/x",
                "text/xml"
            ),
        ])
    func plain(text: String, path: String, accept: String?) throws {
        let request = try #require(read(text))
        #expect(request.path == path && request.accept == accept)
    }

    @Test(
        "everything else is the parser's",
        arguments: [
            "", "\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r", "GET / HTTP/1.1\nHost: a\n\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / x HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
            "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\u{7f} HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /é HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\nx\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\ncontent-type: a/b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent_Length\u{b}: 4\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\tContent-Length: 4\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nno field\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\rContent-Length: 4\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\u{0}\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\nContent-Length: 4\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nAccept: a\r\nAccept: b\r\n\r\n",
            // The answer to a page is its own.
            "GET / HTTP/1.1\r\nHost: a\r\nOrigin: https://acme.example\r\n\r\n",
        ])
    func other(text: String) { #expect(read(text) == nil, "\(text.debugDescription)") }

    @Test func aHeadThatIsLongerThanUsualIsTheParsers() {
        #expect(read("GET / HTTP/1.1\r\nHost: a\r\nX-Long: \(String(repeating: "x", count: 20_000))\r\n\r\n") == nil)
    }

    @Test func moreFieldsThanTheParserTakesAreTheParsers() {
        func head(_ fields: Int) -> String { "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "x: y\r\n", count: fields - 1) + "\r\n" }
        #expect(read(head(Http1Bounds.mostFields)) != nil)
        #expect(read(head(Http1Bounds.mostFields + 1)) == nil)
    }
}
