@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    /// Programmers of one cluster do not reach into each other.
    @Suite("Programmers beside each other")
    struct TenantTests {
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

        @Test("an MVPD's id that another owner gets tells no session and no permit of before; made again by the same one, they are there")
        func formerMvpds() async throws {
            let local = try await Administrator.fresh()
            let id = "Town\(UUID().uuidString.prefix(8))"
            let listed: [String: Any] = [
                "id": id, "displayName": "Town Cable", "proxy": ["mvpd": "NorthCable", "providerId": "town-01", "listed": true],
            ]
            func put(_ entry: [String: Any], _ description: String) async throws {
                let created = try await local.send("POST", "/mvpds", entry)
                try #require(created.status == 201, "\(created.text)")
                if (entry["proxy"] as? [String: Any])?["listed"] == nil {
                    let integrated = try await local.send("POST", "/integrations", ["requestor": "ACME1", "mvpd": id])
                    try #require(integrated.status == 201, "\(integrated.text)")
                }
                try await MvpdTests.publish(description, local)
            }
            func remove() async throws {
                #expect(try await Self.delete("/mvpds/\(id)", local) == 204)
                try await MvpdTests.publish("the town's cable goes", local)
            }
            try await put(listed, "a proxy's list has the town's cable")
            let (device, neighbour) = (try await Device.make(), try await Device.make())
            try await device.signIn(at: id)
            try await neighbour.signIn()
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
            let permit = try await device.authzToken("ACME1-NEWS")
            #expect(permit.status == 200)

            try await remove()
            try await put(listed, "the same list has it again")
            #expect(try await device.checkAuthn() == 200)
            #expect(try await device.authzToken("ACME1-NEWS").object["expires"] as? String == permit.object["expires"] as? String)

            // These belong to the operators themselves.
            try await remove()
            var own: [String: Any] = [
                "id": id, "displayName": "Another Cable", "proxy": ["mvpd": "NorthCable", "providerId": "town-02"], "authzTtl": 3600,
            ]
            own["authorization"] = (try await local.send("GET", "/mvpds/NorthCable").object["entity"] as? [String: Any])?["authorization"]
            try await put(own, "another MVPD has the id")
            #expect(try await device.checkAuthn() == 403)
            #expect(try await device.authnToken().status == 404)
            #expect(try await device.authzToken("ACME1-NEWS").status == 412)
            #expect(try await device.authorize("ACME1-NEWS").status == 403)
            #expect(try await neighbour.checkAuthn() == 200, "the proxy's own people stay")
            try await device.signIn(at: id)
            #expect(try await device.checkAuthn() == 200)
            #expect(try await device.authzToken("ACME1-NEWS").status == 404, "the permit of before is another MVPD's")
        }

        @Test("an imported client's id that another company gets takes no token and no secret of before; imported again by the same one, it does")
        func formerClients() async throws {
            let (edith, boris) = (try await Administrator.fresh("edith"), try await Administrator.fresh("boris"))
            let mark = UUID().uuidString.prefix(8).lowercased()
            func setClients(_ application: String, _ secret: String?, _ administrator: Administrator) async throws {
                let changed = try await administrator.change("/applications/\(application)") { entry in
                    entry["clients"] = secret.map { [["clientId": "old-\(mark)", "secret": $0]] } ?? []
                }
                try #require(changed.status == 200, "\(changed.text)")
                try await MvpdTests.publish("clients of \(application)", administrator)
            }
            for (administrator, name) in [(edith, "acme"), (boris, "bravo")] {
                let written = try await administrator.send("POST", "/secrets/\(name)-\(mark)", ["secret": "secret-of-\(name)-\(mark)"])
                try #require(written.status == 200, "\(written.text)")
            }
            func client(_ programmer: String) -> Client { Client(id: "old-\(mark)", secret: "secret-of-\(programmer)-\(mark)") }
            func asks(_ token: String, _ requestor: String) async throws -> String? {
                let device = Device(cluster: edith.cluster, requestor: requestor, id: UUID().uuidString, accessToken: token)
                let answer = try await device.get("/api/v1/checkauthn")
                try #require(answer.status == 403, "\(answer.status) \(answer.text)")
                return answer.oauthError
            }
            try await setClients("acme-tv", "acme-\(mark)", edith)
            let token = try await client("acme").accessToken()
            #expect(try await asks(token, "ACME1") == nil, "signed in nowhere, but known")

            try await setClients("acme-tv", nil, edith)
            #expect(try await asks(token, "ACME1") == "invalid_client")
            try await setClients("acme-tv", "acme-\(mark)", edith)
            #expect(try await asks(token, "ACME1") == nil)
            try await setClients("acme-tv", nil, edith)
            // Tokens tell the second in which they were made.
            try await Task.sleep(for: .milliseconds(1100))
            try await setClients("bravo-tv", "bravo-\(mark)", boris)
            #expect(try await asks(token, "BRAVO") == "invalid_client")
            #expect(try await asks(token, "ACME1") == "invalid_client")
            let refused = try await edith.cluster.send(.form("/o/client/token", client("acme").fields))
            #expect(refused.status == 400 && refused.oauthError == "invalid_client", "\(refused.text)")
            #expect(try await asks(try await client("bravo").accessToken(), "BRAVO") == nil)
        }

        private static func delete(_ path: String, _ administrator: Administrator) async throws -> Int {
            let tag = try await administrator.send("GET", path).header("etag")
            return try await administrator.send("DELETE", path, ifMatch: tag).status
        }
    }
}
