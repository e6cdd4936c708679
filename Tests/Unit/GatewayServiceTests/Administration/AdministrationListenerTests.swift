internal import Doubles
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import Testing

/// The listener for administration: its routes, and the callers that it serves.
@Suite struct AdministrationListenerTests {
    let gateway = TestGateway(admin: AdministrationSettings(hosts: ["Admin.tv.example"]))

    /// The answer to a request over a real connection.
    private struct Answer {
        let status: Int
        let text: String
    }

    private func send(
        _ method: String = "GET", _ uri: String, at listenerKind: ListenerKind, host: String = "localhost:8081", _ fields: [(String, String)] = []
    ) async throws -> Answer {
        try await gateway.exchange(over: .live, at: listenerKind) { client in
            let port = try #require(client.port)
            return try await RawConnection.with(port) { connection in
                let lines = ([("Host", host), ("Authorization", "Bearer good"), ("Connection", "close")] + fields).map { "\($0.0): \($0.1)\r\n" }
                await connection.send("\(method) \(uri) HTTP/1.1\r\n\(lines.joined())\r\n")
                try await connection.wait(for: "the answer") { $0.isClosed }
                return Answer(status: try #require(connection.statuses.first), text: connection.text)
            }
        }
    }

    @Test func eachRouteIsServedAtOneDoorAndHealthAtBoth() throws {
        let table = try gateway.table()
        let inside = Set(table.routes(at: .administration).map(\.path))
        let outside = Set(table.routes(at: .everybody).map(\.path))
        // The bare address leads elsewhere at each of them.
        #expect(inside.intersection(outside) == ["/", "/healthz", "/readyz", "/openapi.json"])
        #expect(inside.union(outside) == Set(table.routes.map(\.path)))
        let prefixes = ["/admin/v1/", "/console", "/reset-tempass/", "/control/v3/", "/esm/"]
        #expect(inside.subtracting(outside).allSatisfy { path in prefixes.contains { path.hasPrefix($0) } })
        #expect(
            !outside.contains { path in ["/admin", "/reset-tempass", "/control/v3/degradation", "/console", "/esm"].contains { path.hasPrefix($0) } })
    }

    @Test(
        "the public listener does not know administration",
        arguments: [
            "/admin/v1/requestors", "/admin/v1/draft", "/reset-tempass/v3/reset", "/reset-tempass/v2.1/reset", "/control/v3/degradation/acme/all",
        ])
    func unknownOutside(path: String) async throws {
        let reply = try await send(path.hasPrefix("/reset") ? "DELETE" : "GET", path, at: .everybody)
        #expect(reply.status == 404)
        #expect(gateway.administration.getAdministrator.requests.isEmpty)
    }

    @Test(
        "the listener for administration does not know the public API",
        arguments: ["/api/v1/config/ACME1", "/activate", "/o/client/token", "/sp/metadata"])
    func unknownInside(path: String) async throws {
        #expect(try await send("GET", path, at: .administration).status == 404)
    }

    @Test(
        "its own names come in, in numbers too",
        arguments: ["localhost:8081", "LOCALHOST", "127.0.0.1:8081", "[::1]:8081", "10.0.0.7", "admin.tv.example", "ADMIN.tv.example:8081"])
    func ownNames(host: String) async throws {
        #expect(try await send("GET", "/healthz", at: .administration, host: host).status == 200)
    }

    @Test(
        "a foreign name is refused before anything is asked (DNS rebinding)",
        arguments: [
            "evil.example:8081", "localhost.evil.example", "localhost:8081@evil.example", "localhost:99999", "127.0.0.1.evil.example", "tv.example",
            "localhost/x", "admin.tv.example.", "xlocalhost",
        ])
    func foreignNames(host: String) async throws {
        let reply = try await send("GET", "/admin/v1/draft", at: .administration, host: host)
        // A text that is no host at all does not even pass the parser.
        #expect(reply.status == 421 || reply.status == 400)
        if reply.status == 421 { #expect(reply.text.contains(#""code":"foreign_host""#)) }
        #expect(gateway.administration.getAdministrator.requests.isEmpty)
    }

    @Test(
        "a page of another origin is refused on /admin/v1",
        arguments: [
            ("Origin", "https://evil.example"), ("Origin", "null"), ("Origin", "https://localhost:8081"), ("Origin", "http://localhost"),
            ("Origin", "http://localhost:9999"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ])
    func foreignOrigins(field: String, value: String) async throws {
        let reply = try await send("GET", "/admin/v1/administrator", at: .administration, [(field, value)])
        #expect(reply.status == 403)
        #expect(reply.text.contains(#""code":"foreign_origin""#))
        #expect(gateway.administration.getAdministrator.requests.isEmpty)
    }

    @Test func itsOwnPagesComeIn() async throws {
        let own = [("Origin", "http://localhost:8081"), ("Sec-Fetch-Site", "same-origin")]
        #expect(try await send("GET", "/admin/v1/administrator", at: .administration, own).status == 200)
        #expect(try await send("GET", "/admin/v1/administrator", at: .administration, [("Sec-Fetch-Site", "none")]).status == 200)
    }

    @Test("a console of another origin may reset TempPass with its bearer")
    func otherConsolesReset() async throws {
        let path = "/reset-tempass/v3/reset?device_id=d&requestor_id=ACME1&mvpd_id=Preview10"
        let reply = try await send("DELETE", path, at: .administration, [("Origin", "https://support.example"), ("Sec-Fetch-Site", "cross-site")])
        #expect(reply.status != 421 && !reply.text.contains("foreign_"))
        #expect(gateway.authentication.resetTempPass.requests.count == 1, "its bearer was asked about")
    }

    @Test(
        "settings that cannot be are told by their key",
        arguments: [
            (AdministrationSettings(listen: "8081"), "listen"), (AdministrationSettings(listen: "0.0.0.0:8081"), "listen"),
            (AdministrationSettings(certificate: "a.crt"), "certificate"), (AdministrationSettings(hosts: ["https://a.example"]), "hosts"),
            (AdministrationSettings(hosts: ["a.example:8081"]), "hosts"), (AdministrationSettings(hosts: [""]), "hosts"),
            (AdministrationSettings(hosts: Array(repeating: "a.example", count: 65)), "hosts"),
        ])
    func badSettings(settings: AdministrationSettings, key: String) {
        #expect(settings.problem(allowsPlainHTTP: false)?.key == key)
    }

    @Test("64 names, 20 other clusters and names of 60 characters are the most; one more is told by its key")
    func mostSettings() {
        func key(hosts: Int = 1, clusters: Int = 1, own: Int = 60, other: Int = 60) -> String? {
            let cluster = OtherCluster(name: String(repeating: "é", count: other), console: "https://admin.example/console")
            let settings = AdministrationSettings(
                hosts: Array(repeating: "a.example", count: hosts), clusterName: String(repeating: "é", count: own),
                clusters: Array(repeating: cluster, count: clusters))
            return settings.problem(allowsPlainHTTP: false)?.key
        }
        #expect(key(hosts: 64, clusters: 20) == nil)
        #expect(key(hosts: 65) == "hosts" && key(clusters: 21) == "clusters")
        #expect(key(own: 61) == "clusterName" && key(own: 0) == "clusterName" && key(other: 61) == "clusters" && key(other: 0) == "clusters")
    }

    @Test func settingsWithoutItHaveTheDefault() throws {
        let text = #"{"listen":"127.0.0.1:8080","publicOrigin":"http://127.0.0.1:8080","pages":"Pages"}"#
        let settings = try JSONDecoder().decode(GatewaySettings.self, from: Data(text.utf8))
        #expect(settings.admin.listen == "127.0.0.1:8081" && !settings.admin.isGiven && settings.problem == nil)
        let given = try JSONDecoder().decode(AdministrationSettings.self, from: Data(#"{"listen":"0.0.0.0:1","certificate":"a","key":"b"}"#.utf8))
        #expect(given.isGiven && given.problem(allowsPlainHTTP: false) == nil)
    }
}
