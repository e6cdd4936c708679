@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV1Tests {
    /// Reports of usage (rest-v2 §7, clients §4.17), made of what these devices do.
    @Suite("Usage reports")
    struct UsageTests {
        /// A program of the programmer's back office.
        private struct Reader {
            let token: String

            init() async throws { token = try await Client.register("acme-ops").accessToken() }

            func get(_ path: String, _ query: [String: String] = [:]) async throws -> HTTPAnswer {
                try await TestCluster.running().send(Call("GET", "/esm/v3" + path, query: query, headers: ["Authorization": "Bearer \(token)"]))
            }

            /// Sums of an app, in the order of their names.
            func totals(_ metrics: [String], of app: String) async throws -> [String] {
                let query = ["requestor-id": "ACME1", "mvpd": "NorthCable", "customer-app": app, "metrics": metrics.joined(separator: ",")]
                let answer = try await get("/year.json", query)
                try #require(answer.status == 200, "\(answer.text)")
                let rows = try #require(answer.object["report"] as? [[String: String]])
                #expect(rows.count <= 1)
                return metrics.map { rows.first?[$0] ?? "0" }
            }
        }

        /// A device on which `ben` is signed in: he may watch one channel.
        private func device(of app: String = "") async throws -> Device {
            var device = try await Device.make()
            device.information = Device.encoded(#"{"primaryHardwareType":"TV","model":"Test TV","osName":"Linux","applicationId":"\#(app)"}"#)
            try await device.signIn(as: "ben")
            return device
        }

        @Test("clients #94: a sign-in, a decision, a denial and a play are in the report within seconds; a cached decision asks nobody")
        func counts() async throws {
            let reader = try await Reader()
            let names = [
                "authn-attempts", "authn-pending", "authn-successful", "clientless-tokens", "authz-attempts", "authz-successful", "authz-failed",
                "media-tokens", "decision-attempts", "decision-successful",
            ]
            let app = "usage-\(UUID().uuidString)"
            let device = try await device(of: app)
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            try #require(try await device.authorize("ACME1-SPORT").status == 403)
            try #require(try await device.mediaToken("ACME1-NEWS").status == 200)
            let expected = ["1", "1", "1", "1", "2", "1", "1", "1", "3", "2"]
            try await Condition.wait("the report has what happened") { try await reader.totals(names, of: app) == expected }
            let channels = try await reader.get(
                "/year/month/day/requestor-id/channel", ["requestor-id": "ACME1", "metrics": "authz-latency,media-tokens"])
            let rows = try #require(channels.object["report"] as? [[String: String]])
            #expect(rows.contains { $0["channel"] == "ACME1-NEWS" && (Int($0["media-tokens"] ?? "") ?? 0) > 0 })
            let events = try await reader.get("/year/month/day/event", ["reason": "authorization_denied_by_mvpd"])
            #expect((events.object["report"] as? [[String: String]])?.contains { $0["event"] == "authz-failed" } == true)
        }

        @Test("while config is away counts wait, and then each counts once")
        func outage() async throws {
            let (reader, cluster) = (try await Reader(), try TestCluster.running())
            let app = "usage-\(UUID().uuidString)"
            let device = try await device(of: app)
            try cluster.process(.config).signal(SIGKILL)
            try await Condition.wait("config is gone") { try !cluster.process(.config).isRunning }
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            for _ in 0..<20 { try #require(try await device.mediaToken("ACME1-NEWS").status == 200) }
            _ = try await cluster.starter.start()
            for _ in 0..<5 { try #require(try await device.mediaToken("ACME1-NEWS").status == 200) }
            let names = ["authn-successful", "authz-successful", "decision-successful", "media-tokens"]
            try await Condition.wait("the report has what happened meanwhile") {
                try await reader.totals(names, of: app) == ["1", "1", "1", "25"]
            }
        }

        @Test("rest-v2 #104: CSV with a header row; a bad path is 404, POST 405, no bearer 401, an app's bearer 403")
        func table() async throws {
            let reader = try await Reader()
            let table = try await reader.get("/year/month.csv", ["metrics": "authn-attempts,media-tokens"])
            #expect(table.status == 200 && table.text.hasPrefix("year,month,authn-attempts,media-tokens\r\n"))
            #expect(table.header("content-disposition")?.hasPrefix("attachment; filename=\"esm__") == true)
            #expect(try await reader.get("/month/year").status == 404)
            let cluster = try TestCluster.running()
            let headers = ["Authorization": "Bearer \(reader.token)"]
            #expect(try await cluster.send(Call("POST", "/esm/v3/year", headers: headers)).status == 405)
            #expect(try await cluster.send(Call("GET", "/esm/v3/year")).status == 401)
            let app = try await Client.register("acme-tv").accessToken()
            #expect(try await cluster.send(Call("GET", "/esm/v3/year", headers: ["Authorization": "Bearer \(app)"])).status == 403)
            #expect(try await reader.get("/year", ["metrics": "unique-accounts"]).status == 400)
        }

        @Test("clients #94: bare event and requestor-id, reason!=None, an empty metrics")
        func filters() async throws {
            let reader = try await Reader()
            let device = try await device()
            try #require(try await device.authorize("ACME1-KIDS").status == 403)
            try await Condition.wait("the denial is in the report") {
                let query = ["event": "", "requestor-id": "", "reason!": "None", "metrics": "", "start": "2020"]
                let answer = try await reader.get("/media-company/year", query)
                let rows = answer.object["report"] as? [[String: String]] ?? []
                return rows.contains {
                    $0["event"] == "authz-failed" && $0["requestor-id"] == "ACME1" && $0["media-company"] == "acme" && $0["count"] != nil
                }
            }
        }

        @Test("clients #94: every link leads to a report, whose rows have all dimensions of the path; with and without media-company")
        func links() async throws {
            let reader = try await Reader()
            var seen = 0
            var waiting = ["/esm/v3/media-company", "/esm/v3/mvpd/year/month/day", "/esm/v3/year/month/day"]
            while let path = waiting.popLast() {
                let answer = try await reader.get(String(path.dropFirst("/esm/v3".count)), ["limit": "1"])
                try #require(answer.status == 200, "\(path): \(answer.text)")
                seen += 1
                let links = try #require(answer.object["_links"] as? [String: Any])
                let next = try #require(links["drill-down"] as? [[String: String]])
                // Hours and minutes go on as days do.
                waiting += next.compactMap { $0["href"] }.filter { !$0.hasSuffix("/hour") && !$0.hasSuffix("/minute") }
                let dimensions = path.split(separator: "/").dropFirst(2).map(String.init)
                for row in answer.object["report"] as? [[String: String]] ?? [] {
                    #expect(dimensions.allSatisfy { row[$0] != nil }, "\(path)")
                }
            }
            #expect(seen > 100)
        }
    }
}
