internal import Foundation
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import HummingbirdTesting
internal import StrictJson
internal import Testing

/// The API as pages, and where the bare addresses lead.
@Suite struct ReferenceTests {
    let gateway = TestGateway()

    private func description() throws -> ApiDescription {
        try ApiDescription(parsing: try String(contentsOfFile: TestGateway.pages + "/openapi.json", encoding: .utf8))
    }

    @Test("each operation has a place on a page of its group, with an example; no page is over 200 KB, and nothing is from elsewhere")
    func everyOperation() async throws {
        let description = try description()
        let index = try await gateway.get("/docs", [:])
        #expect(index.status == 200 && index.text.utf8.count < 200_000)
        var told = 0
        for group in description.groups {
            let page = try await gateway.get("/docs/\(group.slug)", [:])
            #expect(page.status == 200 && page.text.utf8.count < 200_000, "\(group.name): \(page.text.utf8.count)")
            #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(page.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
            #expect(!page.text.contains("src=\"http") && page.text.components(separatedBy: "<script").count == 2)
            #expect(page.text.contains("<script src=\"/assets/docs.js\" defer></script>"))
            #expect(page.text.contains("<a href=\"/docs/\(group.slug)\" aria-current=\"page\">"))
            for operation in description.operations where operation.group == group.name {
                told += 1
                let section = page.text.components(separatedBy: "<section id=\"\(operation.id)\"")
                #expect(section.count == 2, "\(operation.id)")
                let saysHead = section.last?.components(separatedBy: "</section>").first?.contains("HEAD has the same status") == true
                #expect(saysHead == operation.isServedToHead, "\(operation.id)")
                #expect(index.text.contains("href=\"/docs/\(group.slug)#\(operation.id)\""))
                #expect(section.last?.components(separatedBy: "</section>").first?.contains("<h3>Its answer</h3>") == true, "\(operation.id)")
            }
            #expect(page.text.components(separatedBy: ">curl -si").count - 1 == page.text.components(separatedBy: "<section id=").count - 1)
        }
        #expect(told == description.operations.count && told > 150)
        #expect(try await gateway.get("/docs/nothing", [:]).status == 404)
        #expect(try await gateway.get("/docs/index", [:]).status == 404)
    }

    @Test("links to schemas lead to their places")
    func schemas() async throws {
        let schemas = try await gateway.get("/docs/schemas", [:])
        #expect(schemas.status == 200 && schemas.text.utf8.count < 200_000)
        let decisions = try await gateway.get("/docs/decisions", [:]).text
        let linked = decisions.matches(of: /href="\/docs\/schemas#([A-Za-z0-9]+)"/).map { String($0.1) }
        #expect(!linked.isEmpty)
        for name in Set(linked) { #expect(schemas.text.contains("<section id=\"\(name)\""), "\(name)") }
    }

    @Test("an example has the address of the gateway, what a call must have, and the token that it takes")
    func examples() throws {
        let description = try description()
        func text(_ id: String) throws -> String {
            let operation = try #require(description.operations.first { $0.id == id })
            return CurlExample(description: description, operation: operation, origin: "https://tv.example").text
        }
        let check = try #require(description.operations.first { $0.path == "/api/v1/checkauthn" && $0.method == "GET" })
        let shown = try text(check.id)
        #expect(shown.hasPrefix("curl -si 'https://tv.example/api/v1/checkauthn?") && shown.contains("Bearer $TOKEN"))
        #expect(shown.contains("deviceId=dev-7f3a"))
        let draft = try text("getDraft")
        #expect(draft.hasPrefix("curl -si \"$ADMIN/admin/v1/draft\"") && draft.contains("Bearer $ADMIN_TOKEN"))
        #expect(try text("registerClient").contains("-d '{"))
    }

    @Test("an answer is shown as it was recorded; an alias names its original, and an empty answer, a page and a file say so")
    func answers() async throws {
        let clients = try await gateway.get("/docs/clients", [:]).text
        #expect(clients.contains("<span class=\"quiet\">201, <code>application/json</code></span>"))
        #expect(clients.contains("&quot;grant_types&quot;: [&quot;client_credentials&quot;]"))
        let sdk = try await gateway.get("/docs/the-sdks-own-calls", [:]).text
        #expect(sdk.contains("200, as at <a href=\"/docs/the-sdks-own-calls#sdkSession\">"))
        #expect(sdk.contains("200, as at <a href=\"/docs/configuration#getConfiguration\">"))
        #expect(sdk.contains("200: a file (<code>text/javascript</code>)."))
        let codes = try await gateway.get("/docs/registration-codes", [:]).text
        #expect(codes.contains("204, without content."), "\(codes.components(separatedBy: "class=\"answer\"").dropFirst().map { $0.prefix(60) })")
        #expect(try await gateway.get("/docs/pages", [:]).text.contains("200: a page (<code>text/html</code>)."))
    }

    @Test("JSON is shown with a member a line where a line would be long, and its texts are quoted as RFC 8259 wants")
    func indented() throws {
        let wide = String(repeating: "x", count: 80)
        let node = try JsonDocument(parsing: Array(#"{"a":[1,{"b":null}],"c":{"d":"\#(wide)"},"e":"\" \\ \n \u0001"}"#.utf8)).root
        #expect(
            node.indented() == """
                {
                  "a": [1, {"b": null}],
                  "c": {
                    "d": "\(wide)"
                  },
                  "e": "\\" \\\\ \\n \\u0001"
                }
                """)
    }

    @Test("the bare address leads a viewer to the page for codes, and who administers to the console; neither names the other")
    func bareAddresses() async throws {
        let viewer = try await gateway.get("/", [:])
        #expect(viewer.status == 302 && viewer.headers[.location] == "/activate" && viewer.text.isEmpty)
        let administration = try await gateway.exchange(at: .administration) { client in
            try await client.execute(uri: "/", method: .get, headers: [:]) { Reply($0) }
        }
        #expect(administration.status == 303 && administration.headers[.location] == "/console" && administration.text.isEmpty)
        #expect(try await gateway.send(.post, "/", [:]).status == 405)
    }
}
