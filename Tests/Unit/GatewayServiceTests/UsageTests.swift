import Contracts
import Faults
import Foundation
@testable import GatewayEdge
import Hummingbird
import Testing

@Suite("Usage reports over HTTP") struct UsageTests {
    private let gateway = TestGateway()
    private static let bearer: HTTPFields = [.authorization: "Bearer good"]

    init() {
        gateway.authentication.verifyAccessToken.answer { request, _ in
            guard request.accessToken == "good" else { throw Fault(.accessDenied, "The access token is not accepted.") }
            return VerifiedClient(clientID: "c1", scopes: ["analytics:client"], requestorIDs: ["ACME1", "ACME2"])
        }
        gateway.usage.queryUsage.answer { query, _ in
            UsageReport(
                dimensions: query.path, metrics: ["media-tokens"],
                rows: [UsageRow(values: query.path.map { $0 == "mvpd" ? "=A&\"B\"<" : "2026" }, counts: [7])], start: "2026-11-01T00:00:00",
                end: "2026-11-26T09:45:00", limit: 1000, drillDown: ["day", "dc"])
        }
    }

    private func get(_ path: String, _ headers: HTTPFields = Self.bearer) async throws -> Reply { try await gateway.get("/esm/v3\(path)", headers) }

    @Test("clients #94: HAL with root-relative links; drill-down is a list, values are texts; with and without media-company")
    func json() async throws {
        let reply = try await get("/year/month")
        #expect(reply.status == 200 && reply.headers[.contentType] == "application/json; charset=utf-8" && reply.headers[.lastModified] == nil)
        #expect(
            reply.text
                == #"{"_links":{"self":{"href":"/esm/v3/year/month?start=2026-11-01T00:00:00&end=2026-11-26T09:45:00&limit=1000"},"#
                + #""roll-up":{"href":"/esm/v3/year","name":"year"},"drill-down":[{"href":"/esm/v3/year/month/day","name":"day"},"#
                + #"{"href":"/esm/v3/year/month/dc","name":"dc"}]},"report":[{"year":"2026","month":"2026","media-tokens":"7"}]}"#)
        let root = try await get("")
        let links = try #require(root.json["_links"] as? [String: Any])
        #expect(root.status == 200 && links["roll-up"] == nil && (links["drill-down"] as? [[String: String]])?.first?["href"] == "/esm/v3/day")
        let named = try await get("/media-company/year.json")
        #expect(gateway.usage.queryUsage.requests.last?.path == ["media-company", "year"])
        #expect(named.text.contains(#""roll-up":{"href":"/esm/v3/media-company","name":"media-company"}"#))
        #expect(try await get("/media-company/").status == 200)
    }

    @Test("clients #94: nothing found is 200 with an empty report")
    func empty() async throws {
        gateway.usage.queryUsage.answer(with: UsageReport(dimensions: ["year"], metrics: ["media-tokens"], limit: 1000))
        let reply = try await get("/year")
        #expect(reply.status == 200 && (reply.json["report"] as? [Any])?.isEmpty == true && reply.text.contains(#""drill-down":[]"#))
    }

    @Test("rest-v2 #104, dashboard #39: CSV with a header row and a file name; a bad path is 404; POST is 405")
    func table() async throws {
        let reply = try await get("/year/mvpd.csv?mvpd!=Big%2FTel&start=2026-11")
        #expect(reply.status == 200 && reply.headers[.contentType] == "text/csv; charset=utf-8; header=present")
        #expect(reply.text == "year,mvpd,media-tokens\r\n2026,\"'=A&\"\"B\"\"<\",7\r\n")
        let name = "esm__2026-11-01T00-00-00_2026-11-26T09-45-00_mvpd!=Big-Tel.csv"
        #expect(reply.headers[.contentDisposition] == "attachment; filename=\"\(name)\"")
        gateway.usage.queryUsage.fail(with: Fault(.notFound, "There is no such report."))
        let missing = try await get("/year/nothing")
        #expect(missing.status == 404 && missing.text == "There is no such report.\n" && missing.headers[.contentType] == "text/plain; charset=utf-8")
        for method in [HTTPRequest.Method.post, .put, .delete] {
            let refused = try await gateway.send(method, "/esm/v3/year", Self.bearer)
            #expect(refused.status == 405 && refused.headers[.allow] == "GET, HEAD, OPTIONS", "\(method)")
        }
        #expect(try await gateway.get("/esm/v2/year", Self.bearer).status == 404)
    }

    @Test("dashboard #39: the ending goes before format, that before Accept; what nobody writes is 406")
    func formats() async throws {
        func type(_ path: String, _ accept: String? = nil) async throws -> String {
            let reply = try await get(path, Self.bearer.with(.accept, accept))
            return reply.status == 200 ? String(reply.headers[.contentType]?.prefix { $0 != ";" } ?? "") : "\(reply.status)"
        }
        #expect(try await type("/year") == "application/json")
        #expect(try await type("/year", "*/*") == "application/json")
        #expect(try await type("/year.csv?format=xml", "text/html") == "text/csv")
        #expect(try await type("/year?format=xml", "text/html") == "application/xml")
        #expect(try await type("/year", "text/html,application/xml;q=0.9") == "text/html")
        #expect(try await type("/year", "image/png, text/csv;q=0.1") == "text/csv")
        #expect(try await type("/year", "image/png") == "406")
        #expect(try await type("/year?format=pdf") == "400")
    }

    @Test("XML is HAL too, and nothing in it or in HTML is markup of a stranger")
    func markup() async throws {
        let xml = try await get("/year/mvpd.xml")
        #expect(xml.text.contains(#"<link rel="roll-up" href="/esm/v3/year" name="year"/>"#))
        #expect(xml.text.contains(#"<record year="2026" mvpd="=A&amp;&quot;B&quot;&lt;" media-tokens="7"/>"#))
        #expect(xml.text.contains("limit=1000\"><links>") && xml.text.hasSuffix("</report></resource>\n"))
        let html = try await get("/year/mvpd.html?mvpd=%3Cscript%3E")
        #expect(html.isHTML && html.text.contains("<td>=A&amp;&quot;B&quot;&lt;</td>") && !html.text.contains("<script>"))
    }

    @Test("filters, the time, metrics and the limit are passed on, with the requestors of the bearer alone")
    func query() async throws {
        _ = try await get("/year/month?mvpd=A&mvpd=B&platform!=Roku&platform!=iOS&api&start=2026&end=2026-11&limit=5&metrics=a,b&format=json")
        let query = try #require(gateway.usage.queryUsage.requests.last)
        let filters = [
            UsageFilter(dimension: "mvpd", values: ["A", "B"]), UsageFilter(dimension: "platform", values: ["Roku", "iOS"], isExcluding: true),
            UsageFilter(dimension: "api"),
        ]
        #expect(
            query
                == UsageQuery(
                    requestorIDs: ["ACME1", "ACME2"], path: ["year", "month"], filters: filters, start: "2026", end: "2026-11", metrics: ["a", "b"],
                    limit: 5))
        #expect(gateway.authentication.verifyAccessToken.requests.last == VerifyAccessTokenRequest(accessToken: "good", scope: "analytics:client"))
        for limit in ["0", "x", "-1", "99999999999"] { #expect(try await get("/year?limit=\(limit)").status == 400, "\(limit)") }
    }

    @Test("a bearer comes first: header or parameter; without one 401, with another scope 403")
    func bearers() async throws {
        let none = try await get("/nothing/at/all?limit=x", [:])
        #expect(none.status == 401 && none.headers[.wwwAuthenticate] == "Bearer" && gateway.usage.queryUsage.requests.isEmpty)
        #expect(try await get("/year?access_token=bad", [:]).status == 401)
        #expect(try await get("/year?access_token=good", [:]).status == 200)
        #expect(gateway.usage.queryUsage.requests.last?.filters == [])
        gateway.authentication.verifyAccessToken.answer(with: VerifiedClient(clientID: "c1", scopes: ["api:client:v1"], requestorIDs: ["ACME1"]))
        #expect(try await get("/year").status == 403)
        gateway.authentication.verifyAccessToken.fail(with: Fault(.insufficientScope, "no"))
        #expect(try await get("/year").status == 403)
        gateway.authentication.verifyAccessToken.fail(with: Fault(.unavailable, "away"))
        let away = try await get("/year")
        #expect(away.status == 503 && away.headers[.retryAfter] != nil)
    }

    @Test("clients #94: pages of any origin may read with a bearer of their own, and never with cookies")
    func otherOrigins() async throws {
        let preflight = try await gateway.send(.options, "/esm/v3/year/month", [.origin: "https://console.example"])
        #expect(preflight.status == 204 && preflight.headers[.accessControlAllowOrigin] == "*")
        #expect(preflight.headers[.accessControlAllowHeaders]?.contains("authorization") == true)
        #expect(preflight.headers[.accessControlAllowCredentials] == nil)
        let reply = try await get("/year", Self.bearer.with(.origin, "https://console.example"))
        #expect(reply.status == 200 && reply.headers[.accessControlAllowOrigin] == "*" && reply.headers[.accessControlAllowCredentials] == nil)
        #expect(
            try await get("/year", HTTPFields([.init(name: .origin, value: "https://console.example")])).headers[.accessControlAllowOrigin] == "*")
    }
}
