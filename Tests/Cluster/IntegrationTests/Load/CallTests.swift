@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// `boxoffice call` as a program, and load by the same reflection, on real services.
@Suite(.cluster) struct CallTests {
    private func boxoffice(_ arguments: String...) throws -> Program {
        let cluster = try TestCluster.running()
        let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
        return try Program.run(program, arguments + ["--home", cluster.home.root.path])
    }

    private func object(_ run: Program) throws -> [String: Any] {
        try #require(run.status == 0, "\(run.output)")
        return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    }

    @Test(
        "A service is asked with JSON and answers in JSON, by its own description",
        arguments: ["config", "authentication", "authorization", "autosignin"])
    func callsEveryService(_ service: String) throws {
        let listing = try boxoffice("call", service)
        #expect(listing.status == 0 && listing.lines.contains("boxoffice.platform.v1.Health"))
        let health = try object(boxoffice("call", service, "health.check"))
        #expect(health["status"] as? String == "SERVING_STATUS_SERVING")
        let echo = try object(boxoffice("call", service, "Echo", #"{"content": "AAH/", "delay_ms": 1}"#))
        #expect(echo["content"] as? String == "AAH/")
    }

    @Test("A request may be a file, and its skeleton fits")
    func takesFilesAndTemplates() throws {
        let template = try boxoffice("call", "config", "IssueSoftwareStatement", "--template")
        #expect(template.status == 0)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("request-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(template.output.replacing("\"\"", with: "\"acme-tv\"").utf8).write(to: file)
        let statement = try object(boxoffice("call", "config", "IssueSoftwareStatement", "@\(file.path)"))
        #expect((statement["statement"] as? String)?.split(separator: ".").count == 3)
        let configuration = try object(boxoffice("call", "config", "GetConfiguration"))
        #expect((configuration["mvpds"] as? [[String: Any]])?.contains { $0["id"] as? String == "NorthCable" } == true)
    }

    @Test("The items of a stream are printed until there are enough, or the time is over")
    func listens() throws {
        let one = try object(boxoffice("call", "config", "WatchConfiguration", "--items", "1"))
        #expect(one["version"] != nil)
        let some = try object(boxoffice("call", "config", "boxoffice.platform.v1.Health/Watch", "--timeout", "500ms"))
        #expect(some["status"] as? String == "SERVING_STATUS_SERVING")
    }

    @Test("What cannot be asked is said, with an exit code of its own kind")
    func refuses() throws {
        let cases: [(arguments: [String], status: Int32, words: String)] = [
            (["authentication", "GetSession"], 1, "access_denied"), (["config", "Nothing"], 2, "there are GetConfiguration"),
            (["config", "GetConfiguration", "{"], 2, "line 1, column 2"), (["config", "Echo", #"{"content": 5}"#], 2, "content: must be a string"),
            (["gateway", "Echo"], 2, "speaks the wire"), (["config", "Echo", "--address", "127.0.0.1:1"], 4, "cannot be reached"),
        ]
        let cluster = try TestCluster.running()
        let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
        for (arguments, status, words) in cases {
            let run = try Program.run(program, ["call"] + arguments + ["--home", cluster.home.root.path])
            #expect(run.status == status && run.output.contains(words), "\(arguments): \(run.output)")
        }
    }

    @Test("Load takes requests as JSON, with places and rows of a file", .tags(.timing), .onReleasePrograms)
    func loadsWithData() throws {
        let rows = FileManager.default.temporaryDirectory.appendingPathComponent("rows-\(UUID().uuidString).csv")
        defer { try? FileManager.default.removeItem(at: rows) }
        try Data("content,delay\nAAA=,1\nAQ==,2\n".utf8).write(to: rows)
        let run = try boxoffice(
            "load", "authorization", "--method", "Echo", "--data", #"[{"content": "{{content}}", "delayMs": {{delay}}}, {"content": ""}]"#,
            "--data-file",
            rows.path, "--rate", "50", "--duration", "1s", "--warm-up", "0s", "--quiet", "--assert", "errors<=0%", "--assert", "calls>=48")
        #expect(run.status == 0, "\(run.output)")
        let wrong = try boxoffice("load", "authorization", "--method", "Echo", "--data", #"{"x": 1}"#, "--rate", "1", "--duration", "1s")
        #expect(wrong.status == 2 && wrong.output.contains("x: boxoffice.platform.v1.EchoMessage has no such field"), "\(wrong.output)")
    }
}
