@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV1Tests {
    @Suite("Changes of the catalogue")
    struct CatalogueTests {
        @Test("rest-v1 #4, #11: a revoked statement registers no client, and its clients' tokens end")
        func revokedStatement() async throws {
            let original = try catalogue()
            defer { try? write(original) }
            var applications = try #require(original["applications"] as? [[String: Any]])
            var extra = applications[0]
            extra["id"] = "extra-tv"
            extra["name"] = "Extra TV"
            applications.append(extra)
            try write(original.merging(["applications": applications]) { $1 })
            let statement = try await statement(of: "extra-tv")
            let device = try await self.device(statement)
            try await Condition.wait("the token is good") { try await device.get("/api/v1/checkauthn").oauthError == nil }
            try write(original)
            try await Condition.wait("the token ends") { try await device.get("/api/v1/checkauthn").oauthError == "invalid_client" }
            #expect(try await device.checkAuthn() == 403)
            let answer = try await device.cluster.send(.json("/o/client/register", ["software_statement": statement]))
            #expect(answer.status == 400 && answer.oauthError == "unapproved_software_statement")
        }

        @Test("rest-v1 #51: switching an integration off hides its sessions, and says so on authorize")
        func disabledIntegration() async throws {
            let device = try await Device.make("BRAVO")
            try await device.signIn(at: "LakeTel")
            try #require(try await device.checkAuthn() == 200)
            let original = try catalogue()
            defer { try? write(original) }
            let integrations = try #require(original["integrations"] as? [[String: Any]]).map { integration in
                let isMeant = integration["requestor"] as? String == "BRAVO" && integration["mvpd"] as? String == "LakeTel"
                return isMeant ? integration.merging(["enabled": false]) { $1 } : integration
            }
            try write(original.merging(["integrations": integrations]) { $1 })
            try await Condition.wait("the session is hidden") { try await device.checkAuthn() == 403 }
            try await Condition.wait("authorize says why") {
                let answer = try await device.authorize("ACME1-NEWS")
                return answer.status == 400 && answer.object["code"] as? String == "unknown_integration"
            }
            try write(original)
            try await Condition.wait("the session is back") { try await device.checkAuthn() == 200 }
        }

        private func catalogue() throws -> [String: Any] {
            let content = try Data(contentsOf: try TestCluster.running().home.catalogue)
            return try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
        }

        private func write(_ catalogue: [String: Any]) throws {
            try JSONSerialization.data(withJSONObject: catalogue).write(to: try TestCluster.running().home.catalogue, options: .atomic)
        }

        /// The statement of an application that config learns of.
        private func statement(of application: String) async throws -> String {
            let cluster = try TestCluster.running()
            let addresses = ClusterAddresses(ports: cluster.ports)
            let source = SoftwareStatements(addresses: addresses, pki: LocalPki(folder: cluster.home.pki))
            var found: String?
            try await Condition.wait("config knows \(application)") {
                found = try await source.fetch()[application]
                return found != nil
            }
            return try #require(found)
        }

        /// A device with a client of that statement, once authentication knows the application.
        private func device(_ statement: String) async throws -> Device {
            let cluster = try TestCluster.running()
            let registered = try await Client.registerLater(statement: statement)
            return Device(cluster: cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: try await registered.accessToken())
        }
    }
}
