@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing

extension AdministrationApiTests {
    /// A programmer's back office degrades by the calls that clients of the reference send (clients §4.18).
    @Suite("Degradation by a back office") struct DegradationApiTests {
        private struct ManagementAccess {
            let cluster: TestCluster
            let token: String

            static func of(_ application: String = "acme-ops") async throws -> ManagementAccess {
                ManagementAccess(cluster: try TestCluster.running(), token: try await Client.register(application).accessToken())
            }

            func send(_ method: String, _ path: String, _ query: [String: String], company: String = "acme") async throws -> HTTPAnswer {
                try await cluster.send(
                    Call(
                        method, "/control/v3/degradation/\(company)/\(path)", query: query.merging(["format": "json"]) { $1 },
                        headers: ["Authorization": "Bearer \(token)"]))
            }
        }

        private static let pair = ["programmer": "ACME1", "mvpd": "NorthCable"]

        @Test(
            "clients #95, rest-v2 #72, #120: authzNone acts within a second on its channel alone, is listed, and DELETE removes it", .tags(.timing),
            .onReleasePrograms)
        func appliesAndRemoves() async throws {
            let (office, device) = (try await ManagementAccess.of(), try await Device.make())
            try await device.signIn()
            try #require(try await device.authorize("ACME1-KIDS").status == 200)
            let rule = Self.pair.merging(["channel": "ACME1-KIDS", "msg": "Back at noon"]) { $1 }
            let start = ContinuousClock.now
            let applied = try await office.send("POST", "authzNone", rule.merging(["ttl": "600"]) { $1 })
            try #require(applied.status == 201, "\(applied.text)")
            try await Condition.wait("the rule denies", within: .seconds(1)) { try await device.authorize("ACME1-KIDS").status == 403 }
            #expect(ContinuousClock.now - start < .seconds(1))
            #expect(try await device.authorize("ACME1-KIDS").object["details"] as? String == "Back at noon")
            #expect(try await device.authorize("ACME1-NEWS").status == 200)

            let listed = try await office.send("GET", "authzNone", Self.pair)
            let measures = try #require(listed.object["degradation-measure"] as? [[String: Any]], "\(listed.text)")
            let measure = try #require(measures.first)
            #expect(measures.count == 1 && measure["id"] as? String == "authz-none" && measure["status"] as? String == "APPLIED")
            #expect(measure["enabled"] as? Bool == true && measure["ttl"] as? Int == 600 && measure["err-msg"] as? String == "Back at noon")
            #expect((measure["programmer"] as? [String: String]) == ["id": "ACME1"] && (measure["mvpd"] as? [String: String]) == ["id": "NorthCable"])
            #expect((measure["channel"] as? [[String: String]]) == [["id": "ACME1-KIDS"]])
            let all = try await office.send("GET", "all", ["programmer": "ACME1", "resource": "", "channel": "", "includeHistory": "false"])
            #expect(Set(all.object.keys) == ["authnRules", "authzRules", "authzNoneRules"] && (all.object["authzNoneRules"] as? [Any])?.count == 1)

            #expect(try await office.send("DELETE", "authzNone", rule).status == 204)
            try await Condition.wait("the MVPD is asked again", within: .seconds(1)) { try await device.authorize("ACME1-KIDS").status == 200 }
            #expect((try await office.send("GET", "authzNone", Self.pair).object["degradation-measure"] as? [Any])?.isEmpty == true)
            let history = try await office.send("GET", "all", ["programmer": "ACME1", "includeHistory": "true"])
            #expect(((history.object["authzNoneRules"] as? [[String: Any]])?.first)?["status"] as? String == "REMOVED")
            let audit = try await Administrator.local().audit()
            #expect(audit.contains { $0["action"] as? String == "degradation_started" && $0["author"] as? String == "application acme-ops" })
        }

        @Test("clients #95: authnAll and authzAll let people in, and are administrators' rules too")
        func permits() async throws {
            let (office, device) = (try await ManagementAccess.of(), try await Device.make("ACME2"))
            let pair = ["programmer": "ACME2", "mvpd": "LakeTel"]
            try #require(try await office.send("POST", "authnAll", pair).status == 201)
            try #require(try await office.send("POST", "authzAll", pair.merging(["resource": "ACME2-MOVIES"]) { $1 }).status == 201)
            try await Condition.wait("a login needs no MVPD") {
                try await device.authenticate(device.code(), mvpd: "LakeTel").header("location")?.hasPrefix(device.end) == true
            }
            #expect(try await device.authorize("ACME2-MOVIES").status == 200)
            let rules = try await Administrator.local().send("GET", "/degradation").object["rules"] as? [[String: Any]] ?? []
            #expect(Set(rules.filter { $0["requestor"] as? String == "ACME2" }.compactMap { $0["kind"] as? String }) == ["AuthNAll", "AuthZAll"])
            #expect(try await office.send("DELETE", "all", ["programmer": "ACME2"]).status == 204)
            try await Condition.wait("the session ends with its rule") { try await device.checkAuthn() == 403 }
        }

        @Test("clients #95, #101: without the scope, or at another programmer's media company, 403, and nothing is changed")
        func rights() async throws {
            let (office, app) = (try await ManagementAccess.of(), try await ManagementAccess.of("acme-tv"))
            for (sender, company, query) in [
                (app, "acme", Self.pair), (office, "bravo", Self.pair), (office, "bravo", ["programmer": "BRAVO", "mvpd": "NorthCable"]),
                (office, "acme", ["programmer": "BRAVO", "mvpd": "NorthCable"]),
            ] {
                for method in ["GET", "POST", "DELETE"] {
                    let answer = try await sender.send(method, "authzNone", query, company: company)
                    #expect(answer.status == 403 && answer.oauthError == "insufficient_scope", "\(method) \(company) \(query): \(answer.text)")
                }
            }
            #expect(try await ManagementAccess(cluster: office.cluster, token: "broken").send("POST", "authnAll", [:]).status == 401)
            #expect(try await office.send("POST", "authnAll", ["programmer": "ACME1"]).status == 400)
            let outside = try await office.cluster.exchange.send("GET", "\(office.cluster.gateway)/control/v3/degradation/acme/all")
            #expect(outside.status == 404, "the public address does not have it")
        }

        @Test("clients #101: a listed statement and a pair of an application with decisions:owner write no rule")
        func shared() async throws {
            let local = try await Administrator.fresh()
            let id = "acme-\(UUID().uuidString.prefix(8).lowercased())"
            let statement = "foreign.\(id).statement"
            let entity = try await local.copy(
                ofApplication: "acme-ops", ["id": id, "name": id, "legacyStatements": [Hex.encode(SHA256.hash(statement))]])
            try #require(try await local.send("POST", "/applications", entity).status == 201)
            try await local.push("a back office of which a statement is public")
            try await Condition.wait("the statement registers") {
                try await local.cluster.send(.json("/o/client/register", ["software_statement": statement])).status == 201
            }
            let token = try await Client.register(statement: statement).accessToken()
            let refused = try await ManagementAccess(cluster: local.cluster, token: token).send("POST", "authzNone", Self.pair)
            #expect(refused.status == 403 && refused.oauthError == "insufficient_scope", "\(refused.text)")
            let app = try SigningApp()
            let path = "/control/v3/degradation/acme/authzNone"
            let call = Call("POST", path, query: Self.pair, headers: ["Authorization": app.header("POST", path)])
            #expect(try await local.cluster.send(call).status == 401)
        }
    }
}
