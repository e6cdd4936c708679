@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The output of `boxoffice` about a cluster that runs.
@Suite("Operating a cluster", .cluster)
struct OperationTests {
    private func boxoffice(_ arguments: String...) throws -> Program {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program] + arguments)
    }

    private func object(_ end: Program) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any], "\(end.output)")
    }

    @Test("every program is ready, with version, process, memory and start")
    func status() throws {
        let end = try boxoffice("status", "--json")
        #expect(end.status == 0, "\(end.output)")
        let programs = try #require(try object(end)["programs"] as? [[String: Any]])
        #expect(programs.count { $0["name"] as? String != "postgres" } == 6)
        for program in programs {
            #expect(program["state"] as? String == "ready" && program["version"] is String && program["since"] is String, "\(program)")
            #expect((program["pid"] as? Int ?? 0) > 1 && (program["residentBytes"] as? Int ?? 0) > 1_000_000, "\(program)")
        }
        #expect(Set(programs.compactMap { $0["catalogueVersion"] as? Int }).count == 1)
        #expect(try boxoffice("status").output.contains("authentication  ready"))
    }

    /// Commands that say much of a cluster that runs.
    private static let telling = ["logs", "logs --json", "status", "status --json", "application key list", "catalogue keys", "device --as ada"]

    @Test("a reader that goes, and a closed standard output, end a command that has more to say; it does not crash or hang", arguments: telling)
    func closedOutput(_ command: String) throws {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        func run(_ line: String) throws -> Program {
            try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", "TERM=dumb", "boxoffice=\(program)", "/bin/bash", "-c", line])
        }
        let whole = try run("\"$boxoffice\" \(command) | wc -c; exit ${PIPESTATUS[0]}")
        #expect(whole.status == 0 && Int(whole.lines.last?.trimmingCharacters(in: .whitespaces) ?? "") ?? 0 > 0, "\(whole.status) \(whole.output)")
        for line in [
            // Before it has said a word, behind the first octet, and where the signal of a closed pipe is ignored.
            "\"$boxoffice\" \(command) | true; exit ${PIPESTATUS[0]}", "\"$boxoffice\" \(command) | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}",
            "trap '' PIPE; \"$boxoffice\" \(command) | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}", "\"$boxoffice\" \(command) >&-",
            "\"$boxoffice\" \(command) >/dev/full",
        ] {
            let end = try run(line)
            #expect([0, 1, 141].contains(end.status), "\(line): \(end.status) \(end.output.suffix(300))")
            for word in ["Fatal error", "Crash", "NSError"] { #expect(!end.output.contains(word), "\(line): \(end.output.suffix(300))") }
        }
    }

    @Test("programs on hosts are ready by what they tell at their addresses, and one that tells nothing is not")
    func statusOfHosts() throws {
        let cluster = try TestCluster.running()
        var file = try ClusterFile.required(cluster.home)
        for name in file.services.keys {
            file.services[name]?.pid = 0
            file.services[name]?.host = "a1"
        }
        let address = "127.0.0.1:\(try FreePorts.base())"
        file.services["authentication"]?.copies = [ClusterFile.Entry(address: address, debug: address, pid: 0, host: "b1")]
        (file.sandbox.pid, file.sandbox.mvpd) = (0, "")
        let operatorHome = ClusterHome(root: cluster.home.root.appendingPathComponent("operator"))
        try operatorHome.prepare()
        try file.write(operatorHome)
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        let end = try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(operatorHome.root.path)", program, "status", "--json"])
        let programs = try #require(try object(end)["programs"] as? [[String: Any]])
        let states = programs.map { "\($0["name"] as? String ?? "") \($0["state"] as? String ?? "")" }
        #expect(end.status == 1)
        #expect(
            Set(states) == [
                "gateway at a1 ready", "config at a1 ready", "authentication at a1 ready", "authentication at b1 notReady",
                "authorization at a1 ready",
                "autosignin at a1 ready",
            ])
        #expect(
            programs.allSatisfy { $0["state"] as? String != "ready" || ($0["version"] is String && ($0["residentBytes"] as? Int ?? 0) > 1_000_000) })
    }

    @Test("one request is found in the logs of all programs by the id of its answer")
    func logs() async throws {
        let app = try await TestCluster.running().exchange.send("GET", "\(TestCluster.running().gateway)/api/v1/config/ACME1.json")
        let request = try #require(app.header("adobe-request-id"))
        // Programs gather lines for a tenth of a second.
        try await Task.sleep(for: .milliseconds(500))
        let end = try boxoffice("logs", "--trace", request, "--json")
        let line = try #require(end.lines.first, "\(end.output)")
        let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(event["program"] as? String == "gateway" && event["request"] as? String == request && event["status"] as? Int == 200)
        let starts = try boxoffice("logs", "config", "sandbox", "--since", "1h").lines
        #expect(starts.contains { $0.contains("  config") && $0.contains("program.starting") } && !starts.contains { $0.contains("  gateway  ") })
    }

    @Test("nothing is wrong with it")
    func doctor() throws {
        let end = try boxoffice("doctor", "--json")
        let findings = try #require(try object(end)["findings"] as? [[String: Any]])
        #expect(end.status == 0 && !findings.contains { $0["verdict"] as? String == "wrong" }, "\(findings)")
        let areas = Set(findings.compactMap { $0["area"] as? String })
        #expect(areas == Set(Finding.Area.allCases.map(\.rawValue)))
    }
}
