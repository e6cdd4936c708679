@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    @Suite("Who may what")
    struct AccessTests {
        @Test("dashboard #1: a viewer reads, and every writing call is 403")
        func viewer() async throws {
            let vera = try Administrator.named("vera")
            #expect(try await vera.send("GET", "/administrator").object["role"] as? String == "viewer")
            #expect(try await vera.send("GET", "/requestors/ACME1").status == 200)
            for (method, path) in [("POST", "/requestors"), ("PUT", "/requestors/ACME1"), ("POST", "/draft/push"), ("POST", "/degradation")] {
                let body: [String: Any] =
                    path == "/degradation"
                    ? ["kind": "AuthZAll", "requestor": "ACME1", "mvpds": ["NorthCable"], "endsAt": 1] : ["id": "ACME1", "description": "x"]
                let answer = try await vera.send(method, path, path == "/draft/push" ? ["description": "x"] : body, ifMatch: "*")
                #expect(answer.status == 403 && answer.failureCode == "insufficient_role", "\(method) \(path): \(answer.text)")
            }
            #expect(try await vera.send("POST", "/applications/acme-tv/revoke").status == 403)
            #expect(try await vera.send("GET", "/applications/acme-tv/statement").status == 403)
        }

        @Test("dashboard #2: what belongs to another programmer is 404, also in lists, reports and comparisons")
        func foreignObjects() async throws {
            let edith = try await Administrator.fresh("edith")
            for path in ["/requestors/BRAVO", "/programmers/bravo", "/integrations/BRAVO/NorthCable", "/applications/bravo-tv"] {
                #expect(try await edith.send("GET", path).status == 404, "\(path)")
                #expect(try await edith.send("PUT", path, ["id": "x"], ifMatch: "*").status != 200, "\(path)")
            }
            #expect(try await edith.send("GET", "/applications/bravo-tv/statement").status == 404)
            for path in ["/requestors?q=brav", "/applications?size=200", "/integrations?size=200", "/reports/authn-ttl", "/reports/sso?format=csv"] {
                #expect(try await !edith.send("GET", path).text.contains("BRAVO"), "\(path)")
            }
            let before = try await edith.currentVersion()
            let boris = try await Administrator.fresh("boris")
            #expect(try await boris.change("/requestors/BRAVO") { $0["name"] = "Bravo \(UUID().uuidString)" }.status == 200)
            let after = try await boris.push("a foreign change")
            // She does not see a version that changes nothing of her programmer.
            let comparison = try await edith.send("GET", "/versions/compare?a=\(before)&b=\(after)")
            #expect(comparison.status == 404, "\(comparison.text)")
            #expect(try await !edith.send("GET", "/versions").text.contains("a foreign change"))
        }

        @Test("dashboard #40: an account of one programmer gets only its numbers")
        func reportOfOneProgrammer() async throws {
            let rows = try #require(try await Administrator.named("boris").send("GET", "/reports/authz-ttl").object["rows"] as? [[String: Any]])
            #expect(!rows.isEmpty && rows.allSatisfy { $0["requestor"] as? String == "BRAVO" })
            let named = try await Administrator.named("boris").send("GET", "/reports/authz-ttl?requestor=ACME1")
            #expect(!named.text.contains("ACME1"), "\(named.text)")
        }

        @Test func withoutAGoodBearerEveryAddressIs401() async throws {
            let stranger = Administrator(cluster: try TestCluster.running(), token: String(repeating: "x", count: 64))
            for path in ["/requestors", "/requestors/ACME1", "/draft", "/versions", "/audit", "/reports/sso", "/degradation", "/administrator"] {
                let answer = try await stranger.send("GET", path)
                #expect(answer.status == 401 && answer.failureCode == "access_denied" && answer.header("www-authenticate") == "Bearer", "\(path)")
                #expect(answer.header("cache-control") == "no-store")
            }
        }
    }
}
