@testable import Simulation
@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Files that a person has changed in a cluster's folder are kept.
@Suite("A folder that is kept", .serialized)
struct KeptFolderTests {
    @Test("a folder of the last release, edited by a person, starts and stays as it is; keys are made, a sign-in works")
    func lastRelease() async throws {
        try await withCluster { cluster in
            let before = try Self.writeLastRelease(cluster)
            for round in 1...2 {
                _ = try await cluster.starter.start()
                let app = try await cluster.app()
                _ = try await cluster.signIn(app, code: try await app.requestCode().code)
                #expect(try await app.isSignedIn(), "start \(round)")
                try await cluster.stop()
                #expect(try Self.content(of: cluster.home) == before, "start \(round)")
            }
        }
    }

    @Test("up and down lose nothing; --reset says what it would remove, and removes it only with --yes")
    func commands() async throws {
        try await withCluster { cluster in
            let before = try Self.writeLastRelease(cluster)
            let first = try up(cluster, "--detach", "--no-demo")
            #expect(first.status == 0, "\(first.output)")
            for file in [cluster.home.catalogue, cluster.home.settings(of: .authentication)] {
                #expect(first.output.contains("\(file.path) is yours and stays as it is"))
            }
            let kept = try await cluster.app(deviceID: "kept")
            _ = try await cluster.signIn(kept, code: try await kept.requestCode().code)
            #expect(try boxoffice(cluster, "down").status == 0)
            #expect(try Self.content(of: cluster.home) == before)

            let asked = try up(cluster, "--detach", "--no-demo", "--reset")
            #expect(asked.status != 0 && asked.output.contains("--yes"))
            for place in cluster.home.state { #expect(asked.output.contains(place.path)) }
            #expect(try Self.content(of: cluster.home) == before, "nothing was removed")

            let again = try up(cluster, "--detach", "--no-demo")
            #expect(again.status == 0, "\(again.output)")
            #expect(try await kept.isSignedIn(), "what the services remember is there, too")
            let reset = try up(cluster, "--detach", "--no-demo", "--reset", "--yes")
            #expect(reset.status == 0, "\(reset.output)")
            await #expect(throws: (any Error).self, "the services remember nobody") { _ = try await kept.isSignedIn() }
            let anew = try await cluster.app()
            _ = try await cluster.signIn(anew, code: try await anew.requestCode().code)
            #expect(try await anew.isSignedIn())
        }
    }

    @Test("one's own catalogue and settings are checked, copied, and what was there is kept beside them")
    func ownFiles() async throws {
        try await withCluster { cluster in
            let begun = try up(cluster, "--detach", "--no-demo")
            #expect(begun.status == 0, "\(begun.output)")
            let folder = cluster.home.root.appendingPathComponent("mine")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let catalogue = folder.appendingPathComponent("mine.json")
            try Self.edit(cluster.home.catalogue, to: catalogue) { Self.rename(&$0, "Mine") }
            let settings = folder.appendingPathComponent("settings")
            try FileManager.default.createDirectory(at: settings, withIntermediateDirectories: true)
            let own = settings.appendingPathComponent("authorization.json")
            try Self.edit(cluster.home.settings(of: .authorization), to: own) { $0["log"] = ["level": "debug"] }

            let brought = try up(cluster, "--detach", "--no-demo", "--catalogue", catalogue.path, "--settings", settings.path)
            #expect(brought.status == 0, "\(brought.output)")
            try await Condition.wait("the catalogue is served") { try await Self.name(cluster) == "Mine" }
            #expect(try Data(contentsOf: cluster.home.settings(of: .authorization)) == Data(contentsOf: own))
            #expect(brought.output.contains("Starting authorization again"))

            // A second catalogue: the first one is the user's own and is kept as a backup.
            let first = try Data(contentsOf: cluster.home.catalogue)
            try Self.edit(cluster.home.catalogue, to: catalogue) { Self.rename(&$0, "Mine too") }
            let second = try up(cluster, "--detach", "--no-demo", "--catalogue", catalogue.path)
            #expect(second.status == 0, "\(second.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: cluster.home.catalogue.path + ".1")) == first)
            #expect(second.output.contains("\(cluster.home.catalogue.path).1"))
            try await Condition.wait("the second one is served") { try await Self.name(cluster) == "Mine too" }
        }
    }

    @Test("what is wrong with one's own files is said, all of it, and nothing is copied")
    func wrongFiles() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            let before = try Self.content(of: cluster.home)
            let folder = cluster.home.root.appendingPathComponent("wrong")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let catalogue = folder.appendingPathComponent("catalogue")
            try Self.edit(cluster.home.catalogue, to: catalogue) { $0["colour"] = "red" }
            let settings = folder.appendingPathComponent("authorization.json")
            try Self.edit(cluster.home.settings(of: .authorization), to: settings) {
                $0["debug"] = ["address": "127.0.0.1", "port": 9]
                $0["surplus"] = 1
            }
            func refused(_ arguments: [String], _ words: [String]) throws {
                let outcome = try up(cluster, arguments: ["--detach", "--no-demo"] + arguments)
                #expect(outcome.status != 0 && words.allSatisfy(outcome.output.contains), "\(arguments): \(outcome.output)")
                #expect(try Self.content(of: cluster.home) == before)
            }
            try refused(["--catalogue", catalogue.path], ["colour", catalogue.path])
            try refused(["--catalogue", "/nowhere.json"], ["/nowhere.json"])
            try refused(["--settings", folder.path], ["debug.port is 9", "surplus", settings.path])
            try refused(["--settings", "/nowhere"], ["/nowhere"])
            try Data("{}".utf8).write(to: folder.appendingPathComponent("gatway.json"))
            try refused(["--settings", folder.path], ["gatway.json", "gateway.json"])
        }
    }

    @Test("a catalogue file that changed beside pushes is refused at the start, with the difference; import --force takes it in")
    func besidePushes() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            let local = try Self.administration(cluster)
            try await local.change("Pushed")
            try await cluster.stop()
            try Self.edit(cluster.home.catalogue, to: cluster.home.catalogue) { Self.rename(&$0, "Written") }
            let started = try up(cluster, "--detach", "--no-demo")
            #expect(started.status == 0, "\(started.output)")
            #expect(started.output.contains(#"name "Pushed" -> "Written""#) && started.output.contains("--force"), "\(started.output)")
            #expect(try String(contentsOf: cluster.home.log(of: .config), encoding: .utf8).contains("catalogue.file_refused"))
            #expect(try await Self.name(cluster) == "Pushed")
            let refused = try boxoffice(cluster, "catalogue", "import")
            #expect(refused.status != 0 && refused.output.contains(#"name "Pushed" -> "Written""#), "\(refused.output)")
            let forced = try boxoffice(cluster, "catalogue", "import", "--force")
            #expect(forced.status == 0, "\(forced.output)")
            try await Condition.wait("the file is taken in") { try await Self.name(cluster) == "Written" }
            let silent = try up(cluster, "--detach", "--no-demo")
            #expect(silent.status == 0 && !silent.output.contains("is not taken in"), "\(silent.output)")
        }
    }

    // MARK: - Folders

    /// Every file that a person may write.
    private static func content(of home: ClusterHome) throws -> [String: Data] {
        let files = ClusterService.allCases.map(home.settings(of:)) + [home.catalogue]
        return try Dictionary(uniqueKeysWithValues: files.map { ($0.lastPathComponent, try Data(contentsOf: $0)) })
    }

    /// A folder of the last release with a person's changes: it has neither keys nor a record of what was written.
    private static func writeLastRelease(_ cluster: TestCluster) throws -> [String: Data] {
        let home = cluster.home
        let release = Checkout.current.appendingPathComponent("Tests/Support/Fixtures/LastRelease")
        try home.prepare()
        try SettingsWriter(home: home, ports: cluster.ports, checkout: release, pki: LocalPki(folder: home.pki)).write()
        try FileManager.default.removeItem(at: home.writtenFiles)
        for service in ClusterService.allCases {
            // The pages were in that release's own checkout.
            let text = try String(contentsOf: home.settings(of: service), encoding: .utf8).replacing(release.path, with: Checkout.current.path)
            try Data(text.utf8).write(to: home.settings(of: service))
        }
        try edit(home.settings(of: .authentication), to: home.settings(of: .authentication)) { $0["log"] = ["level": "warning"] }
        try edit(home.catalogue, to: home.catalogue) { rename(&$0, "A person's") }
        return try content(of: home)
    }

    private static func edit(_ file: URL, to other: URL, _ change: (inout [String: Any]) -> Void) throws {
        var object = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        change(&object)
        try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys]).write(to: other, options: .atomic)
    }

    private static func rename(_ catalogue: inout [String: Any], _ name: String) {
        var requestors = catalogue["requestors"] as? [[String: Any]] ?? []
        requestors[0]["name"] = name
        catalogue["requestors"] = requestors
    }

    /// The first requestor's, as apps see it.
    private static func name(_ cluster: TestCluster) async throws -> String? {
        let answer = try await cluster.send(Call("GET", "/api/v1/config/ACME1.json"))
        return (answer.object["requestor"] as? [String: Any])?["name"] as? String
    }

    // MARK: - Commands

    private struct Administration {
        let cluster: TestCluster
        let headers: [String: String]

        /// Pushes another name of the first requestor.
        func change(_ name: String) async throws {
            let path = "/admin/v1/requestors/ACME1"
            let answer = try await cluster.send(Call("GET", path, headers: headers))
            var entity = try #require(answer.object["entity"] as? [String: Any])
            entity["name"] = name
            let body = String(decoding: try JSONSerialization.data(withJSONObject: entity), as: UTF8.self)
            let all = headers.merging(["Content-Type": "application/json", "If-Match": "*"]) { $1 }
            try #require(try await cluster.send(Call("PUT", path, headers: all, body: body)).status == 200)
            let pushed = try await cluster.send(Call("POST", "/admin/v1/draft/push", headers: all, body: #"{"description": "by hand"}"#))
            try #require(pushed.object["status"] as? String == "success", "\(pushed.text)")
        }
    }

    private static func administration(_ cluster: TestCluster) throws -> Administration {
        let file = try #require(try ClusterFile.read(cluster.home))
        return Administration(cluster: cluster, headers: ["Authorization": "Bearer \(file.adminToken)"])
    }

    private func up(_ cluster: TestCluster, _ arguments: String...) throws -> Program { try up(cluster, arguments: arguments) }

    private func up(_ cluster: TestCluster, arguments: [String]) throws -> Program { try run(cluster, ["up"] + arguments) }

    private func boxoffice(_ cluster: TestCluster, _ arguments: String...) throws -> Program { try run(cluster, arguments) }

    private func run(_ cluster: TestCluster, _ arguments: [String]) throws -> Program {
        let environment = [
            "BOXOFFICE_HOME=\(cluster.home.root.path)", "BOXOFFICE_PORT_BASE=\(try #require(cluster.ports.base))",
            "BOXOFFICE_CHECKOUT=\(Checkout.current.path)",
        ]
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run("/usr/bin/env", environment + [program] + arguments)
    }

    private func withCluster(_ body: (TestCluster) async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client), takesKeys: false)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(cluster)) } catch { outcome = .failure(error) }
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
        try outcome.get()
    }
}
