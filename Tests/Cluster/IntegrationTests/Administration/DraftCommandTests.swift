@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    /// An operator changes the catalogue in the terminal alone.
    @Suite("Drafts on the command line") struct DraftCommandTests {
        private func boxoffice(_ arguments: [String]) throws -> Program {
            let cluster = try TestCluster.running()
            let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
            return try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program] + arguments)
        }

        private func boxoffice(_ arguments: String...) throws -> Program { try boxoffice(arguments) }

        /// Somebody at a terminal answers what is asked.
        private func atTerminal(_ answer: String, _ arguments: [String]) throws -> Program {
            let cluster = try TestCluster.running()
            let words = [cluster.starter.binaries.appendingPathComponent("boxoffice").path] + arguments
            let line = "printf '\(answer)\\n' | BOXOFFICE_HOME='\(cluster.home.root.path)' script -qec '\(words.joined(separator: " "))' /dev/null"
            return try Program.run("/bin/sh", ["-c", line])
        }

        /// A file with the metadata of a stand-in, and the fingerprint that a person would confirm.
        private func metadata(_ folder: URL) async throws -> (file: String, fingerprint: String) {
            let cluster = try TestCluster.running()
            let sandbox = try #require(try ClusterFile.read(cluster.home)).sandbox.mvpd
            let answer = try await cluster.exchange.send("GET", "\(sandbox)/saml/LakeTel/metadata")
            let file = folder.appendingPathComponent("idp.xml")
            try Data(answer.body).write(to: file)
            let preview = try boxoffice("mvpd", "add", file.path, "--id", "LakeTel", "--json")
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(preview.output.utf8)) as? [String: Any], "\(preview.output)")
            return (file.path, try #require((object["certificates"] as? [[String: Any]])?.first?["sha256"] as? String))
        }

        private func entity(_ path: String, _ administrator: Administrator) async throws -> [String: Any] {
            try #require(try await administrator.send("GET", path).object["entity"] as? [String: Any])
        }

        @Test("an MVPD is connected by commands that can be said again, all or nothing; what else the draft holds is listed; known settings stay")
        func connects() async throws {
            let local = try await Administrator.fresh()
            let folder = FileManager.default.temporaryDirectory.appending(path: "metadata-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (file, fingerprint) = try await metadata(folder)
            let id = "Terminal\(UUID().uuidString.prefix(8))"
            let add = ["mvpd", "add", file, "--id", id, "--confirm", fingerprint, "--requestor", "ACME1"]

            let mistyped = try boxoffice(add + ["--requestor", "ACNE1"])
            #expect(mistyped.status == 2 && mistyped.output.contains("did you mean --requestor ACME1?"), "\(mistyped.output)")
            #expect(try await local.changes().isEmpty, "half an entry would stand in the way of the next try")
            let both = add + ["--requestor", "ACME2"]
            for _ in 1...2 {
                let added = try boxoffice(both)
                try #require(added.status == 0 && added.output.contains("shown as '\(id)'"), "\(added.output)")
                #expect(try await local.changes().count == 3)
            }

            let half = try boxoffice("draft", "drop", id, "ACME1/\(id)")
            #expect(half.status == 1 && half.output.contains("drop integrations/ACME2/\(id) too"), "\(half.output)")
            #expect(try await local.changes().count == 3, "what went first is back")

            #expect(try await local.change("/requestors/ACME2") { $0["name"] = "Beside \(id)" }.status == 200)
            let declined = try atTerminal("n", both + ["--push", "By"])
            #expect(declined.status == 130 && declined.output.contains("Push all of it? [y/N]"), "\(declined.output)")
            #expect(try await local.changes().count == 4)
            let pushed = try boxoffice(both + ["--days", "7", "--push", "By the terminal"])
            #expect(pushed.status == 0 && pushed.output.contains("The draft holds more"), "\(pushed.output)")
            #expect(pushed.output.contains("requestors/ACME2: name") && pushed.output.contains("Pushed as version"), "\(pushed.output)")
            #expect(try await local.changes().isEmpty)
            #expect(try await entity("/mvpds/\(id)", local)["authnTtl"] as? Int == 604_800)
            let again = try boxoffice(both + ["--push", "Once more"])
            #expect(again.status == 0 && again.output.contains("it is live already"), "\(again.output)")

            let changed = try await local.change("/mvpds/\(id)") { entry in
                var saml = entry["saml"] as? [String: Any] ?? [:]
                saml["signaturePolicy"] = "both"
                entry["saml"] = saml
            }
            #expect(changed.status == 200, "\(changed.text)")
            let renewed = try boxoffice(add + ["--keep-certificates", "--name", "Of the terminal", "--push", "Its certificate"])
            #expect(renewed.status == 0, "\(renewed.output)")
            let entry = try await entity("/mvpds/\(id)", local)
            let saml = try #require(entry["saml"] as? [String: Any])
            #expect(entry["displayName"] as? String == "Of the terminal" && entry["authnTtl"] as? Int == 604_800)
            #expect(saml["signaturePolicy"] as? String == "both" && (saml["signingCertificates"] as? [Any])?.count == 1)

            for path in ["/integrations/ACME1/\(id)", "/integrations/ACME2/\(id)", "/mvpds/\(id)"] {
                #expect(try await local.send("DELETE", path, ifMatch: "*").status == 204, "\(path)")
            }
            let shown = try boxoffice("draft", "show")
            #expect(shown.output.contains("mvpds/\(id) is removed"), "\(shown.output)")
            #expect(try boxoffice("draft", "push", "Without it").output.contains("Pushed as version"))
        }

        @Test("a draft is shown, entries are dropped, and the rest is dismissed")
        func dismisses() async throws {
            let local = try await Administrator.fresh()
            #expect(try boxoffice("draft").output.contains("The draft is empty"))
            let nothing = try boxoffice("draft", "push")
            #expect(nothing.status == 1 && nothing.output.contains("the draft is empty"), "\(nothing.output)")
            #expect(try await local.change("/requestors/ACME2") { $0["name"] = "Dropped" }.status == 200)
            #expect(
                try await local.change("/mvpds/LakeTel") { entry in
                    entry["displayName"] = "Dropped"
                    entry["authnTtl"] = 3600
                }.status == 200)
            let unknown = try boxoffice("draft", "drop", "LakeTle")
            #expect(unknown.status == 2 && unknown.output.contains("mvpds/LakeTel"), "\(unknown.output)")
            let dropped = try boxoffice("draft", "drop", "LakeTel")
            #expect(dropped.status == 0 && dropped.output.contains("mvpds/LakeTel is out of the draft"), "\(dropped.output)")
            #expect(try await local.changes().compactMap { $0["id"] as? String } == ["ACME2"])
            let kept = try atTerminal("n", ["draft", "dismiss"])
            #expect(kept.status == 130 && kept.output.contains("Forget 1 change? [y/N]"), "\(kept.output)")
            #expect(try await local.changes().count == 1)
            let dismissed = try atTerminal("y", ["draft", "dismiss"])
            #expect(dismissed.status == 0 && dismissed.output.contains("requestors/ACME2: name"), "\(dismissed.output)")
            #expect(try await local.changes().isEmpty)
            #expect(try await local.change("/requestors/ACME2") { $0["name"] = "Dropped" }.status == 200)
            let unasked = try boxoffice("draft", "dismiss")
            #expect(unasked.status == 0 && !unasked.output.contains("[y/N]"), "\(unasked.output)")
            #expect(try await local.changes().isEmpty)
        }
    }
}
