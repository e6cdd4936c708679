internal import Foundation
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import HummingbirdTesting
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
            #expect(!page.text.contains("src=\"http") && !page.text.contains("<script"))
            for operation in description.operations where operation.group == group.name {
                told += 1
                let section = page.text.components(separatedBy: "<section id=\"\(operation.id)\"")
                #expect(section.count == 2, "\(operation.id)")
                let saysHead = section.last?.components(separatedBy: "</section>").first?.contains("HEAD has the same status") == true
                #expect(saysHead == operation.isServedToHead, "\(operation.id)")
                #expect(index.text.contains("href=\"/docs/\(group.slug)#\(operation.id)\""))
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
