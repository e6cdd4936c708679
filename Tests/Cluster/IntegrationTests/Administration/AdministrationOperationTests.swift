@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    @Suite("Statements, degradation and reports")
    struct AdministrationOperationTests {
        @Test("dashboard #13, #14: a downloaded statement registers; revoked, it does not, and its clients' tokens end")
        func statements() async throws {
            let local = try await Administrator.fresh()
            let id = "acme-\(UUID().uuidString.prefix(8).lowercased())"
            let entity = try await local.copy(ofApplication: "acme-tv", ["id": id, "name": id])
            #expect(try await local.send("POST", "/applications", entity).status == 201)
            try await local.push("an application")
            let statement = try await local.send("GET", "/applications/\(id)/statement")
            #expect(statement.status == 200 && statement.header("content-type") == "text/plain; charset=utf-8")
            #expect(statement.text.split(separator: ".").count == 3, "a compact JWS")
            let token = try await Client.registerLater(statement: statement.text).accessToken()
            let device = Device(cluster: local.cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: token)
            #expect(try await device.get("/api/v1/checkauthn").oauthError == nil)
            #expect(try await local.send("POST", "/applications/\(id)/revoke").status == 204)
            try await Condition.wait("the token ends", within: .seconds(5)) {
                try await device.get("/api/v1/checkauthn").oauthError == "invalid_client"
            }
            let refused = try await local.cluster.send(.json("/o/client/register", ["software_statement": statement.text]))
            #expect(refused.status == 400 && refused.oauthError == "unapproved_software_statement")
            #expect(try await local.audit().contains { $0["action"] as? String == "statements_revoked" })
        }

        @Test("dashboard #20: an integration that is switched off and pushed refuses logins, and works again when it is on")
        func disabledIntegration() async throws {
            let local = try await Administrator.fresh()
            let device = try await Device.make()
            for (enabled, status) in [(false, 400), (true, 302)] {
                #expect(try await local.change("/integrations/ACME1/LakeTel") { $0["enabled"] = enabled }.status == 200)
                try await local.push("LakeTel \(enabled)")
                try await Condition.wait("a login is \(status)", within: .seconds(5)) {
                    let answer = try await device.authenticate(device.code(), mvpd: "LakeTel")
                    return answer.status == status || status == 302 && answer.status == 200
                }
            }
        }

        @Test(
            "dashboard #32: AuthNAll lets people in within five seconds without a push, ends, and both are logged", .tags(.timing), .onReleasePrograms
        )
        func degradation() async throws {
            let local = try await Administrator.fresh()
            let device = try await Device.make("ACME2")
            let version = try await local.currentVersion()
            let start = ContinuousClock.now
            let started = try await local.send(
                "POST", "/degradation", ["kind": "AuthNAll", "requestor": "ACME2", "mvpds": ["NorthCable"], "endsAt": soon(600), "reason": "down"])
            #expect(started.status == 201, "\(started.text)")
            let rule = try #require((started.object["rules"] as? [[String: Any]])?.first?["id"] as? String)
            try await Condition.wait("a login needs no MVPD", within: .seconds(5)) {
                let answer = try await device.authenticate(device.code())
                return answer.status == 302 && answer.header("location")?.hasPrefix(device.end) == true
            }
            #expect(try await device.checkAuthn() == 200)
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(try await local.send("PUT", "/degradation/\(rule)", ["endsAt": soon(3)]).status == 200)
            try await Condition.wait("it ends by itself", within: .seconds(10)) { try await device.checkAuthn() == 403 }
            try await Condition.wait("the end is logged", within: .seconds(10)) {
                try await local.audit().contains { $0["action"] as? String == "degradation_ended" && $0["author"] as? String == "time" }
            }
            #expect(try await local.audit().contains { $0["action"] as? String == "degradation_started" && $0["author"] as? String == "local" })
            #expect(try await local.send("GET", "/versions/compare?a=\(version)&b=\(version)").status == 200)
        }

        @Test("dashboard #33: a rule over 24 hours, or without an end, is 422")
        func endOfARule() async throws {
            let local = try await Administrator.fresh()
            for end in [soon(24 * 3600 + 60), soon(-1), nil] {
                var body: [String: Any] = ["kind": "AuthZNone", "requestor": "ACME1", "mvpds": ["NorthCable"]]
                body["endsAt"] = end
                let answer = try await local.send("POST", "/degradation", body)
                #expect(answer.status == 422 && answer.problemFields == ["endsAt"], "\(answer.text)")
            }
            #expect(try await local.send("DELETE", "/degradation/unknown").status == 404)
        }

        @Test("dashboard #34: an administrator resets trials of their own channels only, and none without an MVPD")
        func tempPass() async throws {
            let edith = try await Administrator.fresh("edith")
            let good: [String: Any] = ["requestor": "ACME1", "mvpd": "Preview10", "device": "dev-34"]
            let answer = try await edith.send("POST", "/temp-pass/reset", good)
            #expect(answer.status == 200 && answer.object["trials"] as? Int == 0, "\(answer.text)")
            let device = try await Device.make()
            let fields = [("requestor_id", "ACME1"), ("deviceId", device.id), ("mso_id", "Preview10"), ("domain_name", device.domain)]
            let preview = Call.form("/api/v1/authenticate/freepreview", fields, headers: device.headers)
            try #require(try await device.cluster.send(preview).status == 204)
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            let reset = try await edith.send("POST", "/temp-pass/reset", good.merging(["device": device.id]) { $1 })
            #expect(reset.status == 200 && reset.object["trials"] as? Int == 1, "\(reset.text)")
            #expect(try await device.cluster.send(preview).status == 204, "the trial is available again")
            #expect(try await edith.send("POST", "/temp-pass/reset", good.merging(["requestor": "BRAVO"]) { $1 }).status == 403)
            #expect(try await edith.send("POST", "/temp-pass/reset", ["requestor": "ACME1"]).status == 422)
            #expect(try await edith.send("POST", "/temp-pass/reset", good.merging(["mvpd": "NorthCable"]) { $1 }).status == 400)
            let records = try await Administrator.local().audit()
            #expect(records.contains { $0["action"] as? String == "temp_pass_reset" && $0["author"] as? String == "edith" })
        }

        @Test func aRevokedClientIsRefused() async throws {
            let local = try await Administrator.fresh()
            let client = try await Client.register("acme-tv")
            let device = Device(cluster: local.cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: try await client.accessToken())
            #expect(try await device.get("/api/v1/checkauthn").oauthError == nil)
            #expect(try await Administrator.named("edith").send("POST", "/clients/\(client.id)/revoke").status == 403)
            #expect(try await local.send("POST", "/clients/\(client.id)/revoke").status == 204)
            let refused = try await device.get("/api/v1/checkauthn")
            #expect(refused.status == 403 && refused.oauthError == "invalid_client", "\(refused.text)")
            #expect(try await local.send("POST", "/clients/nobody/revoke").status == 404)
        }

        @Test("dashboard #35, #37: the TTL report equals the effective values, and CSV equals the table")
        func reports() async throws {
            let local = try await Administrator.fresh()
            let report = try await local.send("GET", "/reports/authn-ttl?requestor=ACME1&mvpd=NorthCable&mvpd=LakeTel")
            let columns = try #require(report.object["columns"] as? [String])
            let rows = try #require(report.object["rows"] as? [[String: Any]])
            #expect(Set(rows.compactMap { $0["mvpd"] as? String }) == ["NorthCable", "LakeTel"])
            let row = try #require(rows.first { $0["mvpd"] as? String == "NorthCable" })
            let values = try #require(row["values"] as? [String])
            let entry = try await local.send("GET", "/integrations/ACME1/NorthCable")
            let effective = try #require(entry.object["effective"] as? [String: [String: [String: Any]]])
            for (column, scope) in [("Desktop", "desktop"), ("TVCD Roku", "roku"), ("TVCD AppleTV", "tvos")] {
                let index = try #require(columns.firstIndex(of: column))
                let seconds = try #require(effective[scope]?["authnTtl"]?["value"] as? Int)
                #expect(values[index] == "\(seconds / 86400) days", "\(column)")
                #expect(effective[scope]?["authnTtl"]?["source"] is String)
            }
            let table = try await local.send("GET", "/reports/authn-ttl?requestor=ACME1&mvpd=NorthCable&format=csv")
            let name = try #require(row["mvpdName"] as? String)
            #expect(table.header("content-type")?.hasPrefix("text/csv") == true)
            let lines = table.text.components(separatedBy: "\r\n")
            #expect(
                lines == [
                    "Requestor,MVPD,MVPD name," + columns.joined(separator: ","), "ACME1,NorthCable,\(name)," + values.joined(separator: ","), "",
                ])
        }

        private func soon(_ seconds: Int) -> Int { Int(Date().timeIntervalSince1970 * 1000) + seconds * 1000 }
    }
}
