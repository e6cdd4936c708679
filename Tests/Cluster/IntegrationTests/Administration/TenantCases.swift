@testable import BoxofficeCommand
import Foundation
import Testing

extension AdministrationApi {
    /// Programmers of one cluster do not reach into each other.
    @Suite("Programmers beside each other")
    struct TenantCases {
        @Test("an id that another programmer gets gives nothing to who had it before; deleted and made again by the same one, everything goes on")
        func formerOwners() async throws {
            let (edith, boris) = (try await Administrator.fresh("edith"), try await Administrator.fresh("boris"))
            let id = "zeta-\(UUID().uuidString.prefix(8).lowercased())"
            func application(_ programmer: String, _ requestor: String) -> [String: Any] {
                [
                    "id": id, "name": "Zeta", "version": "1.0", "programmer": programmer, "requestors": [requestor], "platforms": "all",
                    "scopes": ["api:client:v1"], "redirectDomains": [] as [String],
                ]
            }
            func register(_ statement: String) async throws -> HTTPAnswer {
                try await edith.cluster.send(.json("/o/client/register", ["software_statement": statement]))
            }
            #expect(try await edith.send("POST", "/applications", application("acme", "ACME1")).status == 201)
            try await edith.push("zeta")
            let statement = try await edith.send("GET", "/applications/\(id)/statement").text
            var registered: HTTPAnswer?
            try await Condition.wait("the statement registers") {
                registered = try await register(statement)
                return registered?.status == 201
            }
            let made = try #require(registered?.object)
            let client = Client(id: try #require(made["client_id"] as? String), secret: try #require(made["client_secret"] as? String))
            let token = try await client.accessToken()

            // By the same programmer: the same life.
            #expect(try await Self.delete("/applications/\(id)", edith) == 204)
            try await edith.push("zeta goes")
            try await Condition.wait("its statement ends") { try await register(statement).status == 400 }
            #expect(try await edith.send("POST", "/applications", application("acme", "ACME1")).status == 201)
            try await edith.push("zeta is back")
            try await Condition.wait("its statement registers again") { try await register(statement).status == 201 }

            // By another one: a new life.
            #expect(try await Self.delete("/applications/\(id)", edith) == 204)
            try await edith.push("zeta goes for good")
            try await Condition.wait("its statement ends again") { try await register(statement).status == 400 }
            #expect(try await boris.send("POST", "/applications", application("bravo", "BRAVO")).status == 201)
            try await boris.push("zeta of another company")
            let fresh = try await boris.send("GET", "/applications/\(id)/statement").text
            try await Condition.wait("the new owner's statement registers") { try await register(fresh).status == 201 }
            let refused = try await register(statement)
            #expect(refused.status == 400 && refused.oauthError == "unapproved_software_statement", "\(refused.text)")
            let old = Device(cluster: edith.cluster, requestor: "BRAVO", id: UUID().uuidString, accessToken: token)
            let answer = try await old.get("/api/v1/checkauthn")
            #expect(answer.status == 403 && answer.oauthError == "invalid_client", "\(answer.status) \(answer.text)")
            let again = try await edith.cluster.send(.form("/o/client/token", client.fields))
            #expect(again.status == 400 && again.oauthError == "invalid_client", "a former owner's client gets no token: \(again.text)")
        }

        @Test("an editor names no file of a secret that is not the programmer's; what it may not name is told as not there")
        func files() async throws {
            let edith = try await Administrator.fresh("edith")
            var told: Set<String> = []
            for reference in ["console", "test-viewer", "nothing-of-that-name"] {
                let edited = try await edith.change("/integrations/ACME1/OpenFiber") {
                    $0["oauthClient"] = ["clientId": "own", "clientSecretReference": reference]
                }
                try #require(edited.status == 200, "\(edited.text)")
                let pushed = try await edith.send("POST", "/draft/push", ["description": "names \(reference)"])
                #expect(pushed.status == 422, "\(reference): \(pushed.status) \(pushed.text)")
                let problems = pushed.failure["problems"] as? [[String: Any]] ?? []
                told.insert(problems.map { "\($0["message"] ?? "")" }.joined().replacingOccurrences(of: reference, with: "REFERENCE"))
                #expect(try await edith.send("DELETE", "/draft").status == 204)
            }
            #expect(told.count == 1 && told.first?.isEmpty == false, "\(told)")
        }

        @Test("a push is judged by the rights of its moment: what an operator gave to another company leaves the draft of who had it")
        func rightsOfTheMoment() async throws {
            let (local, edith) = (try await Administrator.fresh(), try await Administrator.fresh("edith"))
            let id = "MOVED\(UUID().uuidString.prefix(6))"
            let requestor: [String: Any] = ["id": id, "name": "Moved", "programmer": "acme", "domains": [["name": "moved.example"]]]
            let created = try await edith.send("POST", "/requestors", requestor)
            try #require(created.status == 201, "\(created.text)")
            try await edith.push("a channel")
            #expect(
                try await edith.change("/requestors/\(id)") { entry in
                    entry["domains"] = (entry["domains"] as? [[String: Any]] ?? []) + [["name": "evil.example"]]
                }.status == 200)
            #expect(try await edith.changes().count == 1)
            #expect(try await local.change("/requestors/\(id)") { $0["programmer"] = "bravo" }.status == 200)
            try await local.push("the channel goes to bravo")
            #expect(try await edith.changes().isEmpty, "the entry has left the draft")
            let pushed = try await edith.send("POST", "/draft/push", ["description": "too late"])
            #expect(pushed.status != 202, "\(pushed.text)")
            let entry = try await local.send("GET", "/requestors/\(id)").text
            #expect(entry.contains("moved.example") && !entry.contains("evil.example"), "\(entry)")
            #expect(try await edith.send("GET", "/requestors/\(id)").status == 404)
        }

        private static func delete(_ path: String, _ administrator: Administrator) async throws -> Int {
            let tag = try await administrator.send("GET", path).header("etag")
            return try await administrator.send("DELETE", path, ifMatch: tag).status
        }
    }
}
