@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    @Suite("Draft, push and versions")
    struct DraftTests {
        @Test("dashboard #22: a push without a description is 422")
        func description() async throws {
            let local = try await Administrator.fresh()
            #expect(try await local.change("/requestors/ACME1") { $0["name"] = "Described" }.status == 200)
            for body: [String: Any] in [[:], ["description": ""], ["description": "  "], ["description": String(repeating: "x", count: 501)]] {
                let answer = try await local.send("POST", "/draft/push", body)
                #expect(answer.status == 422 && answer.failure["field"] as? String == "description", "\(answer.text)")
            }
        }

        @Test("dashboard #23, #24: each line has its old and new value; dismissing lines or all leaves what is live")
        func dismiss() async throws {
            let local = try await Administrator.fresh()
            let old = try await name("ACME1", local)
            #expect(try await local.change("/requestors/ACME1") { $0["name"] = "Renamed" }.status == 200)
            #expect(try await local.change("/mvpds/LakeTel") { $0["authnTtl"] = 86400 }.status == 200)
            let changes = try await local.changes()
            let line = try #require(changes.first { $0["property"] as? String == "name" })
            #expect(line["old"] as? String == old && line["new"] as? String == "Renamed" && line["operation"] as? String == "replace")
            let number = try #require(line["number"] as? Int)
            let left = try await local.send("DELETE", "/draft/changes/\(number)")
            #expect(left.status == 200 && (left.object["changes"] as? [Any])?.count == changes.count - 1)
            #expect(try await local.send("DELETE", "/draft/changes/99").status == 404)
            #expect(try await local.send("DELETE", "/draft").status == 204)
            #expect(try await local.changes().isEmpty)
            #expect(try await name("ACME1", local) == old)
        }

        @Test("dashboard #25: two editors push different properties; the same property gives the second 409 with the list")
        func twoEditors() async throws {
            let edith = try await Administrator.fresh("edith")
            let emil = try await Administrator.fresh("emil")
            #expect(try await edith.change("/requestors/ACME1") { $0["name"] = "By Edith" }.status == 200)
            #expect(try await emil.change("/requestors/ACME2") { $0["name"] = "By Emil" }.status == 200)
            let first = try await edith.push("one")
            let second = try await emil.push("two")
            #expect(second > first)
            #expect(try await edith.change("/requestors/ACME1") { $0["name"] = "Edith again" }.status == 200)
            #expect(try await emil.change("/requestors/ACME1") { $0["name"] = "Emil now" }.status == 200)
            try await edith.push("three")
            let late = try await emil.send("POST", "/draft/push", ["description": "four"])
            #expect(late.status == 409 && late.failureCode == "conflict", "\(late.text)")
            let conflicts = try #require(late.failure["conflicts"] as? [[String: Any]])
            #expect(conflicts.contains { $0["property"] as? String == "name" && $0["id"] as? String == "ACME1" })
        }

        @Test("dashboard #27: a comparison needs two versions, and tells what differs")
        func comparison() async throws {
            let local = try await Administrator.fresh()
            let before = try await local.currentVersion()
            #expect(try await local.change("/requestors/ACME1") { $0["name"] = "Compared \(UUID().uuidString)" }.status == 200)
            let after = try await local.push("compare")
            for query in ["", "?a=\(before)", "?a=\(before)&a=\(after)", "?a=\(before)&b=x"] {
                #expect(try await local.send("GET", "/versions/compare\(query)").status == 400, "\(query)")
            }
            let answer = try await local.send("GET", "/versions/compare?a=\(before)&b=\(after)")
            let changes = try #require(answer.object["changes"] as? [[String: Any]])
            #expect(answer.status == 200 && changes.count == 1 && changes[0]["property"] as? String == "name")
            #expect(try await local.send("GET", "/versions/compare?a=1&b=\(after)").status == 404)
        }

        @Test("dashboard #28: restoring a version makes a new one that equals it")
        func restore() async throws {
            let local = try await Administrator.fresh()
            let original = try await local.currentVersion()
            #expect(try await local.change("/requestors/ACME1") { $0["name"] = "To be undone" }.status == 200)
            try await local.push("a mistake")
            let draft = try await local.send("POST", "/versions/\(original)/restore")
            #expect(draft.status == 200 && (draft.object["changes"] as? [Any])?.count == 1, "\(draft.text)")
            let restored = try await local.push("undo")
            #expect(restored > original)
            let old = try await local.send("GET", "/versions/\(original)").object["documentSha256"] as? String
            #expect(try await local.send("GET", "/versions/\(restored)").object["documentSha256"] as? String == old)
            #expect(try await local.send("GET", "/history/verification").object["intact"] as? Bool == true)
        }

        private func name(_ requestor: String, _ administrator: Administrator) async throws -> String {
            let answer = try await administrator.cluster.send(Call("GET", "/api/v1/config/\(requestor).json"))
            return try #require((answer.object["requestor"] as? [String: Any])?["name"] as? String)
        }
    }
}
