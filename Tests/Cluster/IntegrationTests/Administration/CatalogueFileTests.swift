@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    @Suite("Catalogue files, from a vendor's configuration to a push")
    struct CatalogueFileTests {
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("catalogue-files-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        private func boxoffice(_ arguments: String...) throws -> Program {
            let cluster = try TestCluster.running()
            let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
            return try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program] + arguments)
        }

        private func small() throws -> String {
            let page = try String(contentsOf: Checkout.current.appendingPathComponent("Services/Config/README.md"), encoding: .utf8)
            let block = try #require(page.components(separatedBy: "```json\n").dropFirst().first?.components(separatedBy: "```").first)
            let file = folder.appendingPathComponent("own.json")
            try Data(block.utf8).write(to: file)
            return file.path
        }

        private func listed(_ requestor: String) async throws -> [String] {
            let cluster = try TestCluster.running()
            let answer = try await cluster.exchange.send("GET", "\(cluster.gateway)/api/v1/config/\(requestor).json")
            let mvpds = (answer.object["requestor"] as? [String: Any])?["mvpds"] as? [[String: Any]]
            return (mvpds ?? []).compactMap { $0["id"] as? String }.sorted()
        }

        @Test("the small catalogue of the documents goes live by one command, changes nothing the second time, and a person signs in for its channel")
        func applies() async throws {
            let local = try await Administrator.fresh()
            let file = try small()
            let before = try await local.currentVersion()
            let dry = try boxoffice("catalogue", "apply", file, "--dry-run")
            #expect(dry.status == 0 && dry.output.contains("requestors/CHAN7 is added"), "\(dry.output)")
            #expect(try await local.currentVersion() == before)
            #expect(try await local.changes().isEmpty)
            let done = try boxoffice("catalogue", "apply", file)
            #expect(done.status == 0 && done.lines.last?.hasPrefix("pushed: version ") == true, "\(done.output)")
            let after = try await local.currentVersion()
            #expect(after > before)
            try await Condition.wait("the gateway lists the channel's MVPDs") { try await listed("CHAN7") == ["NorthCable", "Preview7"] }
            let again = try boxoffice("catalogue", "apply", file)
            #expect(again.status == 0 && again.output.contains("nothing to change"), "\(again.output)")
            #expect(try await local.currentVersion() == after)

            let statement = folder.appendingPathComponent("chan7.jwt")
            let issued = try boxoffice("call", "config", "IssueSoftwareStatement", #"{"applicationId": "chan7-tv"}"#)
            let text = (try JSONSerialization.jsonObject(with: Data(issued.output.utf8)) as? [String: Any])?["statement"] as? String
            try Data(try #require(text, "\(issued.output)").utf8).write(to: statement)
            let device = try boxoffice("device", "--requestor", "CHAN7", "--statement", statement.path, "--as", "ada", "--poll", "3", "--plain")
            #expect(device.status == 0, "\(device.output)")

            // A part of it, and what it no longer has.
            let rest = folder.appendingPathComponent("rest.json")
            let integrations = try #require(try await local.send("GET", "/integrations?size=200").object["items"] as? [[String: Any]])
            let kept = integrations.compactMap { $0["entity"] as? [String: Any] }.filter { $0["mvpd"] as? String != "Preview7" }
            try JSONSerialization.data(withJSONObject: ["integrations": kept]).write(to: rest)
            let pruned = try boxoffice("catalogue", "apply", rest.path, "--prune", "--json")
            let changes = try #require(try JSONSerialization.jsonObject(with: Data(pruned.output.utf8)) as? [String: Any])["changes"] as? [String]
            #expect(changes == ["integrations/CHAN7/Preview7 is removed"], "\(pruned.output)")
            try await Condition.wait("the gateway lists what is left") { try await listed("CHAN7") == ["NorthCable"] }
            #expect(try await local.send("POST", "/versions/\(before)/restore", [:]).status == 200)
            try await local.push("As it was before")
        }

        @Test("what cannot be applied leaves the draft empty, and a draft that holds something stays")
        func refuses() async throws {
            let local = try await Administrator.fresh()
            let file = folder.appendingPathComponent("secret.json")
            let integration: [String: Any] = [
                "requestor": "BRAVO", "mvpd": "OpenFiber", "oauthClient": ["clientId": "box", "clientSecretReference": "nobody-has-this"],
            ]
            try JSONSerialization.data(withJSONObject: ["integrations": [integration]]).write(to: file)
            let refused = try boxoffice("catalogue", "apply", file.path)
            #expect(refused.status != 0 && refused.output.contains("nobody-has-this"), "\(refused.output)")
            #expect(try await local.changes().isEmpty)
            #expect(try await local.change("/requestors/ACME1") { $0["name"] = "Begun" }.status == 200)
            let busy = try boxoffice("catalogue", "apply", try small(), "--description", "busy")
            #expect(try await local.changes().count == 1)
            #expect(busy.status == 2 && busy.output.contains("your draft holds 1 change"), "\(busy.output)")
        }

        @Test("a public list becomes files, with what each platform knows; an MVPD's file says what it lacks")
        func readsList() async throws {
            let cluster = try TestCluster.running()
            let output = folder.appendingPathComponent("adobe").path
            let made = try boxoffice("catalogue", "from-adobe", "ACME1", "--base", cluster.gateway, "--output", output, "--programmer", "acme")
            #expect(made.status == 0 && made.output.contains("still missing"), "\(made.output)")
            let text = try Data(contentsOf: URL(fileURLWithPath: "\(output)/mvpds/NorthCable.json"))
            let document = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
            let entry = try #require((document["mvpds"] as? [[String: Any]])?.first)
            #expect(entry["displayName"] as? String == "North Cable")
            #expect((entry["platforms"] as? [[String: Any]])?.compactMap { $0["platform"] as? String } == ["ios", "tvos"])
            let incomplete = try boxoffice("catalogue", "apply", "\(output)/mvpds/NorthCable.json", "--dry-run")
            #expect(incomplete.status == 2 && incomplete.output.contains("mvpds/NorthCable: must have exactly one of"), "\(incomplete.output)")
        }

        @Test("the stand-in vendor's v2 configuration becomes files that the bridge could serve; one client is registered for it, and kept nowhere")
        func readsSecondVersion() async throws {
            _ = try await Administrator.fresh()
            let cluster = try TestCluster.running()
            let file = try #require(try ClusterFile.read(cluster.home))
            let vendor = try #require(file.sandbox.upstream)
            let answer = try await cluster.exchange.send("GET", "\(vendor)/control/statements")
            let statements = try #require(try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [[String: Any]])
            let text = try #require(statements.first { $0["id"] as? String == "acme-v2" }?["text"] as? String)
            let statement = folder.appendingPathComponent("statement")
            try Data(text.utf8).write(to: statement)
            let output = folder.appendingPathComponent("vendor").path
            let made = try boxoffice(
                "catalogue", "from-adobe", "ACME1", "--base", vendor, "--statement", statement.path, "--bridge", "vendor7", "--programmer", "acme",
                "--platform", "roku", "--output", output)
            #expect(made.status == 0 && made.output.contains("registered one client"), "\(made.output)")
            let mvpds = try FileManager.default.contentsOfDirectory(atPath: "\(output)/mvpds")
            #expect(mvpds.contains("CoastCable.json") && !made.output.contains(text))
            // The cluster's programmer has a certificate, of which no vendor tells: an entry without it would be refused.
            let whole = try Data(contentsOf: URL(fileURLWithPath: "\(output)/catalogue.json"))
            var catalogue = try #require(try JSONSerialization.jsonObject(with: whole) as? [String: Any])
            #expect(catalogue.removeValue(forKey: "programmers") != nil)
            try JSONSerialization.data(withJSONObject: catalogue).write(to: URL(fileURLWithPath: "\(output)/catalogue.json"))
            let plan = try boxoffice("catalogue", "apply", "\(output)/catalogue.json", "\(output)/mvpds/CoastCable.json", "--dry-run")
            #expect(plan.status == 0, "\(plan.output)")
            for line in ["upstreams/vendor7 is added", "mvpds/CoastCable is added", "integrations/ACME1/CoastCable is added"] {
                #expect(plan.output.contains(line), "\(plan.output)")
            }
        }
    }
}
