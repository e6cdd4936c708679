@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    /// Everything about a person, told and erased over all services of a cluster.
    @Suite("People") struct PeopleTests {
        private func boxoffice(_ device: Device, _ words: [String]) throws -> (status: Int32, output: String) {
            let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
            let line = try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(device.cluster.home.root.path)", program, "person"] + words)
            return (line.status, line.output)
        }

        @Test("a person is exported and erased from the command line; the app hears that there is no session, and nothing is found again")
        func erases() async throws {
            let device = try await Device.make()
            // Nobody else is dan: for some seconds an erased person's sign-in comes from before.
            try await device.signIn(as: "dan")
            try #require(try await device.checkAuthn() == 200)
            #expect(try await device.authorize("ACME1-NOT-INCLUDED").status == 403)
            try await Task.sleep(for: .milliseconds(700))
            let told = try boxoffice(device, ["export", "--device", device.id])
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(told.output.utf8)) as? [String: Any], "\(told.status) \(told.output)")
            let services = try #require(object["services"] as? [String: [String: Any]])
            #expect(Set(services.keys) == ["authentication", "authorization", "autosignin", "config", "gateway"])
            let tables = services["authentication"]?["tables"] as? [String: [[String: Any]]] ?? [:]
            #expect(tables["session"]?.contains { $0["device_id"] as? String == device.id } == true)
            #expect((services["authorization"]?["tables"] as? [String: [Any]])?["refusals"]?.isEmpty == false)
            let user = try #require(tables["session"]?.first { $0["device_id"] as? String == device.id }?["upstream_user_id"] as? String)
            let counted = try boxoffice(device, ["erase", "--device", device.id, "--dry-run"])
            #expect(counted.status == 0 && counted.output.contains("  authentication  session  "), "\(counted.output)")
            #expect(!counted.output.contains(device.id) && !counted.output.contains(user), "\(counted.output)")
            #expect(try await device.checkAuthn() == 200, "nothing is erased")
            let erased = try boxoffice(device, ["erase", "--device", device.id])
            #expect(
                erased.status == 0 && erased.output.contains("authentication  session") && erased.output.contains("what stays:"), "\(erased.output)")
            #expect(try await device.checkAuthn() == 403)
            #expect(try await device.authorize("ACME1-NEWS").status != 200)
            let again = try boxoffice(device, ["export", "--user", user, "--mvpd", "NorthCable"])
            #expect(again.status == 1 && again.output.hasPrefix("boxoffice: nothing is held about this person"), "\(again.output)")
            #expect(!again.output.contains(device.id))
            let records = try await Administrator.local().audit().filter { $0["action"] as? String == "personal_data" }
            let texts = records.compactMap { $0["text"] as? String }
            #expect(texts.contains { $0.hasPrefix("Personal data: erases a person by device id") }, "\(texts)")
            #expect(!texts.contains { $0.contains(device.id) || $0.contains(user) })
        }

        @Test("an editor without the right gets 403")
        func needsTheRight() async throws {
            let edith = try await Administrator.fresh("edith")
            for call in ["export", "erase"] {
                #expect(try await edith.send("POST", "/people/\(call)", ["user": "nobody", "mvpd": "NorthCable"]).status == 403)
            }
        }
    }
}
